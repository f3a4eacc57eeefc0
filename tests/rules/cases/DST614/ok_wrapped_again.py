import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, path, loader, classes):
    dist.init_process_group("nccl")
    model = DDP(net)
    model.load_state_dict(torch.load(path))
    model.module.fc = nn.Linear(512, classes)
    model.module.half()
    model = DDP(model.module)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
