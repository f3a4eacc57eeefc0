import torch
import torch.distributed as dist
from helpers import as_float, lines, on_the_gpu, score


def counted(path):
    found = 0
    if dist.get_rank() == 0:
        found = lines(path)
    found = torch.tensor(found)
    dist.broadcast(found, 0)
    return found


def in_float():
    best = 0
    if dist.get_rank() == 0:
        best = score()
    best = as_float(best)
    dist.broadcast(best, 0)
    return best


def on_all_ranks(repeat):
    best = 0
    if repeat:
        best = score()
    best = on_the_gpu(best)
    dist.all_reduce(best)
    return best
