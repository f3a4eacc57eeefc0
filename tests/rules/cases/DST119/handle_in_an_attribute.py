import torch
import torch.distributed as dist


class A:
    def f(self, x):
        self.w = dist.all_reduce(x, async_op=True)
        return x
