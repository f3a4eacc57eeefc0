"""A step to warm up before the model is wrapped, and an evaluation of the module afterwards."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader):
    dist.init_process_group("nccl")
    loss = net(torch.zeros(2, 2)).mean()
    loss.backward()
    net.zero_grad()
    model = DDP(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs in loader:
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            print(net(inputs).mean())
