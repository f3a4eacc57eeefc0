import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, critic, loader):
    dist.init_process_group("nccl")
    model = DDP(net)
    critic.head = nn.Linear(512, 2)
    critic.half()
    critic.module.head = nn.Linear(512, 2)
    state = {}
    state["layer"] = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
