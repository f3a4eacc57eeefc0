import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("nccl")
local_rank = int(os.environ["LOCAL_RANK"])
rank = int(os.environ["RANK"])


def by_default(data):
    return DistributedSampler(data)


def of_job(data):
    return DistributedSampler(data, num_replicas=int(os.environ["WORLD_SIZE"]), rank=rank)


def of_group(data):
    return DistributedSampler(data, dist.get_world_size(), dist.get_rank())


def of_node(data):
    return DistributedSampler(data, int(os.environ["LOCAL_WORLD_SIZE"]), local_rank)


def of_gpus(data):
    return DistributedSampler(data, torch.cuda.device_count(), local_rank)


def of_somebody(data, n, rank):
    return DistributedSampler(data, n, rank), DistributedSampler(data, n, local_rank)


def computed(data, node):
    number = node * torch.cuda.device_count() + local_rank
    return DistributedSampler(data, rank=number)


def either(data, many):
    return DistributedSampler(data, rank=rank if many else local_rank)
