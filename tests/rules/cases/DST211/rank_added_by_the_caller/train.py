import torch.distributed as dist
from data import build


def main(data, args):
    dist.init_process_group("nccl")
    loader = build(data, args.seed + dist.get_rank())
