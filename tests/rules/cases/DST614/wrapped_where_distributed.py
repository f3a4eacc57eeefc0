import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    if args.distributed:
        net = DDP(net, find_unused_parameters=True)
        net.module.classifier = nn.Sequential(nn.Dropout(0.5), nn.Linear(512, 2))  # expect: DST614
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        net(batch).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    dist.init_process_group("nccl")
