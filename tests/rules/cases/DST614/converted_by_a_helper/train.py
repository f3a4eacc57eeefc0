import torch
import torch.distributed as dist
from helpers import in_half
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    dist.init_process_group("nccl")
    model = DDP(net.cuda(), device_ids=[args.local_rank])
    in_half(args, model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
