"""A compiled wrapper is left by ``module`` all the same."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader):
    dist.init_process_group("nccl")
    model = torch.compile(DDP(net))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs in loader:
        loss = model.module.get_loss(inputs)  # expect: DST613
        loss.backward()
        optimizer.step()
