"""Whoever leaves the loop ends: the others wait in the next epoch."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def worker(rank, args, net, loader):
    dist.init_process_group("nccl", rank=rank)
    model = DDP(net.to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    lowest, waited = 1e9, 0
    for epoch in range(args.epochs):
        running = 0.0
        for step, (inputs, targets) in enumerate(loader):
            loss = F.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            if rank == 0 and step % args.log_every == 0:
                print(epoch, step, loss.item())
            running += loss.item()
        waited = 0 if running < lowest else waited + 1
        lowest = min(lowest, running)
        if waited > 3:
            break  # expect: DST102
