"""What a function adds up, or returns beside the loss, has no graph."""

import torch
import torch.nn.functional as F


def anneal(step):
    return min(1.0, step / 1000)


def weighted(rec, kl, weight):
    return rec + weight * kl


def weight(model, loader, opt):
    total, kept = 0, 0
    for step, x in enumerate(loader):
        rec, kl = model(x)
        weight = anneal(step)
        loss = weighted(rec, kl, weight)
        loss.backward()
        opt.step()
        total += weight
        kept += kl.item()


def parts(model, x):
    rec, kl = model(x)
    return rec + kl, rec.item(), kl.detach()


def numbers_returned(model, loader, opt):
    total, kl_total = 0, 0
    for x in loader:
        loss, rec, kl = parts(model, x)
        loss.backward()
        opt.step()
        total += rec
        kl_total += kl


def difference(out, target):
    return (out - target).mean()


def data(model, loader, opt, device):
    seen, kept = [], []
    for x, y in loader:
        x, y = x.to(device), prepare(y)
        loss = difference(model(x), y)
        loss.backward()
        opt.step()
        seen.append(y)
        kept.append(x)


def repeated(loss, count):
    return repeated(loss, count - 1) + count if count else loss


def calls_itself(model, loader, opt, sizes):
    total = 0
    for x in loader:
        count = sizes(x)
        loss = repeated(model(x), count)
        loss.backward()
        opt.step()
        total += count


def detached_inside(rec, kl):
    return rec + kl.detach()


def detached_inside(model, loader, opt, teacher):
    total = 0
    for x in loader:
        rec = model(x)
        with torch.no_grad():
            off = teacher(x)
        loss = detached_inside(rec, off)
        loss.backward()
        opt.step()
        total += off


@torch.no_grad()
def teach(teacher, x):
    return teacher(x).mean()


def added(a, b):
    return a + b


def no_grad_by_a_function(model, loader, opt, teacher):
    total = 0
    for x in loader:
        rec = model(x)
        off = teach(teacher, x)
        loss = added(rec, off)
        loss.backward()
        opt.step()
        total += off


def number(x):
    return x.mean().item()


def number_of_a_function(model, loader, opt):
    total = 0
    for x in loader:
        rec = model(x)
        off = number(x)
        loss = added(rec, off)
        loss.backward()
        opt.step()
        total += off


def first_of(a, b):
    return a


def made_a_number_in_between(model, loader, opt):
    total = 0
    for x in loader:
        a, b = model(x)
        loss = first_of(a, b)
        loss.backward()
        opt.step()
        loss = loss.item()
        shown = loss / 4
        total += shown


def with_a_number(rec, kl):
    kl = kl.clamp(1)
    kl = float(kl)
    return rec + kl


def counted(model, loader, opt):
    n = 0
    for x in loader:
        rec, count = model(x), x.shape[0]
        loss = with_a_number(rec, count)
        loss.backward()
        opt.step()
        n += count


def masked(loss, mask):
    count = mask.sum()
    return (loss * mask).sum() / count, count


def masked_mean(model, loader, opt):
    tokens = 0
    for x, mask in loader:
        losses = model(x)
        loss, count = masked(losses, mask)
        loss.backward()
        opt.step()
        tokens += count


def sum_goes_backward(model, loader, opt):
    for x in loader:
        total = 0
        for part in x:
            a, b = model(part)
            total += added(a, b)
            total += b
        total.backward()
        opt.step()


def stats(model, x):
    out = model(x)
    loss = F.cross_entropy(out, x)
    acc = (out.argmax(1) == x).float().mean()
    return loss, acc


def accuracy(model, loader, opt):
    accs = 0
    for x in loader:
        loss, acc = stats(model, x)
        loss.backward()
        opt.step()
        accs += acc
