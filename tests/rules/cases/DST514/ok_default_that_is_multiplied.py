import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

parser = argparse.ArgumentParser()
parser.add_argument("--world-size", type=int, default=int(os.environ.get("SLURM_NNODES", 1)))
parser.add_argument("--node", type=int, default=0)


def worker(gpu, gpus, args):
    rank = args.node * gpus + gpu
    dist.init_process_group("nccl", "env://", world_size=args.world_size, rank=rank)


if __name__ == "__main__":
    args = parser.parse_args()
    count = torch.cuda.device_count()
    args.world_size = args.world_size * count
    mp.spawn(worker, nprocs=count, args=(count, args))
