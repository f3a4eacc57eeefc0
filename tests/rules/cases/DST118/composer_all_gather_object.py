import composer.utils.dist as cd
import torch
import torch.distributed as dist


def f(x):
    x = cd.all_gather_object(x)
    return x[0]
