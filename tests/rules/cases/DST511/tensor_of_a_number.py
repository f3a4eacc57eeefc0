import time

import numpy as np
import torch
import torch.distributed as dist


def first(model, loader):
    dist.init_process_group("nccl")
    running, seen = 0.0, 0
    for x in loader:
        loss = model(x)
        running += loss.item() * len(x)
        seen = seen + len(x)
    mean = torch.tensor(running / max(seen, 1))
    dist.all_reduce(mean)  # expect: DST511
    return mean


def second(losses):
    begin = time.time()
    took = torch.tensor(time.time() - begin)
    dist.all_reduce(took, op=dist.ReduceOp.MAX)  # expect: DST511
    count = torch.as_tensor(len(losses), dtype=torch.long)
    dist.broadcast(count, 0)  # expect: DST511
    score = float(np.mean(losses))
    total = torch.tensor(score)
    dist.reduce(total, dst=0)  # expect: DST511


def third(metrics):
    values = [each.item() for each in metrics]
    packed = torch.tensor(values)
    dist.all_reduce(packed)  # expect: DST511
