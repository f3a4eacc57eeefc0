import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    dist.init_process_group("nccl")
    model = DDP(net.cuda(), device_ids=[args.local_rank])
    if args.fp16:
        model.half()  # expect: DST614
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
