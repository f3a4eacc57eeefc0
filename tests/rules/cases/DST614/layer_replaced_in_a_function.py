import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, loader, classes):
    dist.init_process_group("nccl")
    model = DDP(net.cuda(), find_unused_parameters=True)
    features = model.module.fc.in_features
    model.module.fc = nn.Linear(features, classes).cuda()  # expect: DST614
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
