import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def average_gradients(model):
    for param in model.parameters():
        dist.all_reduce(param.grad, op=dist.ReduceOp.AVG)


def main(net, loader):
    dist.init_process_group("nccl")
    model = DDP(net, find_unused_parameters=True)
    model.module.head = nn.Linear(512, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        average_gradients(model)
        optimizer.step()
