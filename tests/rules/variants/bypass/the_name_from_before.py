"""The loop calls the model by the name that it had before it was wrapped."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(net, loader):
    dist.init_process_group("nccl")
    wrapped = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    for inputs in loader:
        optimizer.zero_grad()
        loss = net(inputs).mean()  # expect: DST613
        loss.backward()
        optimizer.step()
