import torch
import torch.distributed as dist
from accelerate.utils import broadcast_object_list


def f(x):
    x = broadcast_object_list(x)
    return x[0]
