import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, outputs):
    dist.init_process_group("nccl")
    model = DDP(net, find_unused_parameters=True)
    if outputs == 1:
        model.module.head = nn.Sequential(model.module.head, nn.Flatten(0))
    model.module.act = nn.ReLU()
    model.module.mode = "train"
    model.module.steps = len(loader)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
