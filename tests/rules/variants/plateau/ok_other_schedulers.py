"""Schedulers that count steps, and an optimizer with a closure."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import CosineAnnealingLR, ReduceLROnPlateau


def main(args, net, loader):
    dist.init_process_group("nccl")
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.plateau:
        scheduler = ReduceLROnPlateau(optimizer)
    else:
        scheduler = CosineAnnealingLR(optimizer, 100)
    for epoch in range(5):
        for inputs in loader:
            loss = model(inputs).sum()
            loss.backward()
            optimizer.step()
        if not args.plateau:
            scheduler.step(epoch)
        else:
            mean = loss.detach()
            dist.all_reduce(mean, op=dist.ReduceOp.AVG)
            scheduler.step(mean)
