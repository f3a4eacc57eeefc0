import os
import torch
import torch.distributed as dist


class Cb:
    def __init__(self, sync):
        self.sync = sync

    def __call__(self, v):
        return self.sync(v) < 0.1

    def check(self, v):
        return self.sync(v) < 0.1


def mean(v):
    t = torch.tensor(v, device="cuda")
    dist.all_reduce(t, op=dist.ReduceOp.AVG)
    return t.item()
