import torch
import torch.distributed as dist
from helpers import replicate
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, parts, loader):
    dist.init_process_group("nccl")
    parts["net"] = parts["backbone"]()
    model = replicate(parts["net"], args.local_rank)
    model.module.fc = nn.Linear(512, args.classes).cuda()  # expect: DST614
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()


def by_its_old_name(args, make_net, loader):
    dist.init_process_group("nccl")
    nets = {}
    nets["student"] = make_net()
    model = DDP(nets["student"])
    nets["student"].fc = nn.Linear(512, args.classes).cuda()  # expect: DST614
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
