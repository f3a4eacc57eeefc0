import torch
import torch.distributed as dist


class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return dist.all_reduce(x)  # expect: DST118

    @staticmethod
    def backward(ctx, g):
        return dist.all_reduce(g), None  # expect: DST118
