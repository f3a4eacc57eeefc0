import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

parser = argparse.ArgumentParser()
parser.add_argument("--world-size", type=int, default=8)
print(os.environ.get("SLURM_NNODES"))


def worker(gpu, gpus, args):
    rank = int(os.environ["SLURM_NODEID"]) * gpus + gpu
    dist.init_process_group("nccl", "env://", world_size=args.world_size, rank=rank)


if __name__ == "__main__":
    count = torch.cuda.device_count()
    mp.spawn(worker, nprocs=count, args=(count, parser.parse_args()))
