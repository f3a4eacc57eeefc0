import torch.distributed as dist
from helpers import start, total


def written(x):
    work = start(x)  # expect: DST119
    x[0] = 1
    work.wait()


def read_by_a_helper(x):
    work = dist.all_reduce(x, async_op=True)  # expect: DST119
    y = total(x)
    work.wait()
    return y


def in_a_dict(x):
    parts = {}
    parts["loss"] = x * 2
    parts["work"] = dist.all_reduce(parts["loss"], async_op=True)  # expect: DST119
    print(parts["loss"].item())
    parts["work"].wait()
