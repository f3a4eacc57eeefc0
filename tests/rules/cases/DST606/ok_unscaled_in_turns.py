from torch.nn.utils import clip_grad_norm_


def two(first, second, optimizers, scaler, batch):
    scaler.scale(first(batch).mean() + second(batch).mean()).backward()
    scaler.unscale_(optimizers[0])
    clip_grad_norm_(first.parameters(), 1.0)
    scaler.step(optimizers[0])
    scaler.unscale_(optimizers[1])
    clip_grad_norm_(second.parameters(), 1.0)
    scaler.step(optimizers[1])


def either(model, optimizer, scaler, batch, soon):
    scaler.scale(model(batch).mean()).backward()
    if soon:
        scaler.unscale_(optimizer)
    clip_grad_norm_(model.parameters(), 1.0)
    if not soon:
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
