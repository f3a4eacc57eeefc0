"""Which scheduler there is depends on the options."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import CosineAnnealingLR, ReduceLROnPlateau


def make(args, optimizer):
    if args.plateau:
        return ReduceLROnPlateau(optimizer, factor=0.5)
    return CosineAnnealingLR(optimizer, 100)


def main(args, net, loader):
    dist.init_process_group("nccl")
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = make(args, optimizer)
    for _epoch in range(5):
        running = torch.zeros(1)
        for inputs in loader:
            loss = model(inputs).sum()
            loss.backward()
            optimizer.step()
            running += loss.detach()
        if args.plateau:
            scheduler.step(running.item())  # expect: DST623
        else:
            scheduler.step()
