import torch
import torch.distributed as dist
from helpers import on_the_gpu, score, send


def share(rank):
    if rank == 0:
        best = score()
    else:
        best = 0
    best = on_the_gpu(best)
    dist.broadcast(best, 0)  # expect: DST111
    return best


def sent_by_a_helper():
    found = 0
    if dist.get_rank() == 0:
        found = score()
    found = torch.tensor(found)
    send(found)
    return found


def in_a_dict():
    parts = {}
    parts["best"] = 0
    if dist.get_rank() == 0:
        parts["best"] = score()
    parts["best"] = torch.tensor(parts["best"])
    dist.all_reduce(parts["best"])  # expect: DST111
    return parts["best"]
