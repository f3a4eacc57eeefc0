import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

import torch.multiprocessing as mp


def worker(local_rank, world):
    dist.init_process_group("nccl", rank=local_rank, world_size=world)
    DistributedSampler([1], num_replicas=world, rank=local_rank)
    DistributedSampler([1], num_replicas=torch.cuda.device_count())


mp.spawn(worker, args=(2,), nprocs=2)
