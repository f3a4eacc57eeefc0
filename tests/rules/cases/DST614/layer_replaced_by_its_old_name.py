import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(make, loader, classes):
    dist.init_process_group("nccl")
    net = make()
    model = DDP(net)
    net.fc = nn.Linear(512, classes)  # expect: DST614
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
