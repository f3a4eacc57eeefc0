"""One name for both: the wrapper where there are several processes."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    if args.distributed:
        dist.init_process_group("nccl")
        model = DDP(net)
    else:
        model = net
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs in loader:
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()
