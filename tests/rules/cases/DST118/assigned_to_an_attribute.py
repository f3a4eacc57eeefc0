import torch
import torch.distributed as dist


class A:
    def f(self):
        self.total = dist.all_reduce(self.total)  # expect: DST118
