import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("nccl")


def of_environment(data):
    return DistributedSampler(data, rank=int(os.environ["LOCAL_RANK"]))  # expect: DST518


def with_the_world(data):
    local = int(os.getenv("LOCAL_RANK", "0"))
    return DistributedSampler(data, dist.get_world_size(), local)  # expect: DST518


def of_slurm(data):
    size = int(os.environ["SLURM_NTASKS"])
    rank = int(os.environ["SLURM_LOCALID"])
    return DistributedSampler(data, num_replicas=size, rank=rank)  # expect: DST518


def of_torch(data):
    return DistributedSampler(data, rank=dist.get_node_local_rank())  # expect: DST518


class Data:
    def __init__(self, data, rank):
        self.data, self.rank = data, rank

    def sampler(self):
        return DistributedSampler(self.data, None, self.rank)  # expect: DST518


Data([1], int(os.environ["LOCAL_RANK"])).sampler()


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int)
    return parser.parse_args()


args = options()
sampler = DistributedSampler([1], rank=args.local_rank, shuffle=True)  # expect: DST518
