import argparse
import os

import deepspeed
import torch
import torch.distributed as dist
from torch.distributed import init_process_group


def of_environment():
    dist.init_process_group(  # expect: DST518
        "nccl", rank=int(os.environ["LOCAL_RANK"]), world_size=int(os.environ["WORLD_SIZE"])
    )


def of_variables():
    local_rank = int(os.environ["LOCAL_RANK"])
    world = int(os.getenv("WORLD_SIZE", "1"))
    init_process_group("nccl", "env://", None, world, local_rank)  # expect: DST518


def without_a_size():
    dist.init_process_group(backend="nccl", rank=int(os.environ["LOCAL_RANK"]))  # expect: DST518


def with_the_default():
    local = int(os.environ.get("LOCAL_RANK", 0))
    dist.init_process_group("nccl", world_size=-1, rank=local)  # expect: DST518


def of_slurm():
    local_id = int(os.environ["SLURM_LOCALID"])
    tasks = int(os.environ["SLURM_NTASKS"])
    url = f"tcp://{os.environ['MASTER_ADDR']}:29500"
    dist.init_process_group("gloo", url, rank=local_id, world_size=tasks)  # expect: DST518


def of_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    args = parser.parse_args()
    args.world_size = int(os.environ["WORLD_SIZE"])
    dist.init_process_group(  # expect: DST518
        backend="nccl", world_size=args.world_size, rank=args.local_rank
    )


def of_a_remainder():
    rank = int(os.environ["RANK"])
    gpu = rank % torch.cuda.device_count()
    dist.init_process_group(  # expect: DST518
        "nccl", rank=gpu, world_size=int(os.environ["WORLD_SIZE"])
    )


def of_a_product(args):
    size = args.nnodes * torch.cuda.device_count()
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl", world_size=size, rank=local_rank)  # expect: DST518


def of_deepspeed():
    deepspeed.init_distributed(  # expect: DST518
        "nccl", rank=int(os.environ["LOCAL_RANK"]), world_size=int(os.environ["WORLD_SIZE"])
    )


class Job:
    def __init__(self):
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.size = int(os.environ["WORLD_SIZE"])

    def join(self):
        options = {"rank": self.local_rank, "world_size": self.size}
        dist.init_process_group("nccl", **options)  # expect: DST518


def join(rank, size):
    dist.init_process_group("nccl", rank=rank, world_size=size)  # expect: DST518


def main():
    join(int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"]))
