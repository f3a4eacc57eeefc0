import horovod.torch as hvd
import torch
import torch.distributed as dist


def f(x):
    x = hvd.allreduce_(x)
    return x + 1
