import torch
import torch.distributed as dist

from loop import fit
from net import Net


def main(args, loader):
    dist.init_process_group("nccl")
    torch.manual_seed(args.seed)  # expect: DST216
    fit(Net(), loader)
