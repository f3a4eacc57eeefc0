import torch
import torch.distributed as dist


def flatten(params):
    return torch.cat([p.grad.flatten() for p in params if p.grad is not None])


def average(params):
    flat = flatten(params)
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    offset = 0
    for p in params:
        if p.grad is not None:
            p.grad.copy_(flat[offset : offset + p.numel()].view_as(p))
            offset += p.numel()


class Updater:
    def __init__(self, optimizer, params):
        self.optimizer = optimizer
        self.params = list(params)

    def update(self):
        average(self.params)
        self.optimizer.step()
