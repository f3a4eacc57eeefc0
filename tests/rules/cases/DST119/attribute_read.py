import torch
import torch.distributed as dist


class A:
    def f(self):
        _ = dist.all_reduce(self.c, async_op=True)  # expect: DST119
        self.center = self.center * 0.9 + self.c * 0.1
