import argparse

import torch.distributed as dist
import torch.multiprocessing as mp


def worker(gpu, args):
    rank = args.nr * args.gpus + gpu
    dist.init_process_group("nccl", rank=rank, world_size=args.gpus * args.nodes)


def alone(gpu, args):
    dist.init_process_group("nccl", rank=gpu, world_size=args.gpus)


def other(rank, args):
    dist.init_process_group("nccl", rank=rank, world_size=args.gpus * args.nodes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--nr", type=int)
    parser.add_argument("--gpus", type=int)
    args = parser.parse_args()
    mp.spawn(worker, nprocs=args.gpus, args=(args,))
    mp.spawn(alone, nprocs=args.gpus, args=(args,))
