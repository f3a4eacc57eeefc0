import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from streams import start


def main(args, net, loader):
    dist.init_process_group("nccl")
    torch.manual_seed(args.seed)
    model = DDP(net)
    start(args.seed)
    for x in loader:
        noise = torch.randn_like(x)
        (model(x + noise) - noise).square().mean().backward()
