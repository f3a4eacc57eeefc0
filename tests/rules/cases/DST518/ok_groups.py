import argparse
import os

import torch
import torch.distributed as dist

local_rank = int(os.environ["LOCAL_RANK"])
gpus = torch.cuda.device_count()


def of_environment():
    dist.init_process_group("nccl")
    torch.cuda.set_device(local_rank)


def of_ranks():
    dist.init_process_group(
        "nccl", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"])
    )


def computed():
    rank = int(os.environ["GROUP_RANK"]) * gpus + local_rank
    dist.init_process_group("nccl", rank=rank, world_size=int(os.environ["WORLD_SIZE"]))


def of_slurm():
    rank, size = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    dist.init_process_group("nccl", rank=rank, world_size=size)


def given(rank, world_size):
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


def either(several):
    rank = int(os.environ["RANK"]) if several else local_rank
    dist.init_process_group("nccl", rank=rank, world_size=int(os.environ["WORLD_SIZE"]))


def of_an_option():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", type=int)
    args = parser.parse_args()
    dist.init_process_group("nccl", rank=args.rank, world_size=int(os.environ["WORLD_SIZE"]))


def overwritten(args):
    args.local_rank = int(os.environ["RANK"])
    dist.init_process_group("nccl", rank=args.local_rank, world_size=int(os.environ["WORLD_SIZE"]))
