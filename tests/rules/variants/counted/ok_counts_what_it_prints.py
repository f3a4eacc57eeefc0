"""What each rank counts decides what it prints, and nothing else."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def worker(rank, args, net, loader):
    dist.init_process_group("nccl", rank=rank)
    model = DDP(net.to(rank), device_ids=[rank])
    lowest, waited = 1e9, 0
    for epoch in range(args.epochs):
        running = 0.0
        for inputs in loader:
            loss = model(inputs).mean()
            loss.backward()
            running += loss.item()
        waited = 0 if running < lowest else waited + 1
        lowest = min(lowest, running)
        if waited > 3:
            print(epoch, "no progress on", rank)
            waited = 0
