import losses
from losses import added


def by_name(model, loader, opt):
    total = 0.0
    for x in loader:
        rec, kl = model(x)
        loss = added(rec, kl)
        loss.backward()
        opt.step()
        total += kl  # expect: DST307


def by_module(model, loader, opt):
    total = 0.0
    for x in loader:
        rec, kl = model(x)
        loss = losses.added(kl=kl, rec=rec)
        loss.backward()
        opt.step()
        total += kl  # expect: DST307
