import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, classes):
    dist.init_process_group("nccl")
    net.fc = nn.Linear(512, classes)
    net.half()
    model = DDP(net.cuda())
    model.half()
    model.cuda()
    model.to("cuda")
    model.float()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
