import torch
import torch.distributed as dist


def f(self, x):
    w = dist.all_reduce(x)
    self.assertIsNone(w)
