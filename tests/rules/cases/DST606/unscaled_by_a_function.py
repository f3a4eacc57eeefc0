import torch


def unscale(scaler, opt):
    scaler.unscale_(opt)


def step(scaler, opt, loss, net):
    scaler.scale(loss).backward()
    unscale(scaler, opt)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
