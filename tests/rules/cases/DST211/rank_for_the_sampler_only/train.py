import torch
import torch.distributed as dist
from data import build


def main(data, args):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.manual_seed(args.seed + rank)
    loader = build(data, args.seed, rank)
