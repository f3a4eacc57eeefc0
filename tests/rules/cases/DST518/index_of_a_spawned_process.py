import argparse

import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DistributedSampler


def worker(gpu, args):
    size = args.nodes * args.gpus
    dist.init_process_group("nccl", rank=gpu, world_size=size)  # expect: DST518
    return DistributedSampler([1], num_replicas=args.gpus * args.nodes, rank=gpu)  # expect: DST518


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--gpus", type=int)
    args = parser.parse_args()
    mp.spawn(worker, nprocs=args.gpus, args=(args,))
