import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    dist.init_process_group("nccl")
    seed = args.global_seed * dist.get_world_size() + dist.get_rank()
    torch.manual_seed(seed)
    model = DDP(net)
    for x in loader:
        noise = torch.randn_like(x)
        (model(x + noise) - noise).square().mean().backward()


def by_option(args, net, loader):
    dist.init_process_group("nccl")
    args.seed = args.seed + args.rank
    torch.manual_seed(args.seed)
    model = DDP(net)
    for x in loader:
        noise = torch.randn_like(x)
        (model(x + noise) - noise).square().mean().backward()
