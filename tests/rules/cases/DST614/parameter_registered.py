import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader):
    dist.init_process_group("nccl")
    model = DDP(net)
    model.module.register_parameter("scale", nn.Parameter(torch.ones(1)))  # expect: DST614
    setattr(model.module, "shift", nn.Parameter(torch.zeros(1)))  # expect: DST614
    model.module.blocks[3].bias = nn.Parameter(torch.zeros(1))  # expect: DST614
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
