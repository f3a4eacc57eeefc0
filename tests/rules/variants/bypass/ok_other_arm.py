"""Each arm trains what it has."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if args.distributed:
        dist.init_process_group("nccl")
        model = DDP(net)
        for inputs in loader:
            model(inputs).mean().backward()
            optimizer.step()
    else:
        for inputs in loader:
            net(inputs).mean().backward()
            optimizer.step()
