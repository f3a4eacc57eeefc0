"""The ranks agree on what they count."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def worker(rank, args, net, loader):
    dist.init_process_group("nccl", rank=rank)
    model = DDP(net.to(rank), device_ids=[rank])
    lowest, waited = 1e9, 0
    for _epoch in range(args.epochs):
        running = torch.zeros(1, device=rank)
        for inputs, targets in loader:
            loss = F.cross_entropy(model(inputs), targets)
            loss.backward()
            running += loss.detach()
        dist.all_reduce(running)
        total = running.item()
        waited = 0 if total < lowest else waited + 1
        lowest = min(lowest, total)
        if waited > 3:
            break
