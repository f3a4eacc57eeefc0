import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    dist.init_process_group("nccl")
    torch.manual_seed(args.seed)
    scale = torch.randn_like(net.weight)
    net.weight.data.copy_(scale)
    shift = torch.randn_like(net.bias)
    model = DDP(net)
    for x in loader:
        (model(x) + shift).square().mean().backward()
