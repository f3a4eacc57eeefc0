import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch.half()).mean().backward()
        optimizer.step()
        weights = {name: value.cpu() for name, value in model.module.state_dict().items()}
        teacher = copy.deepcopy(model.module).half()
        teacher.head = nn.Linear(512, 2)
        print(teacher, weights, model(batch).cpu())
