import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("nccl")
count = torch.cuda.device_count()


def by_default(data):
    return DistributedSampler(data, num_replicas=count)  # expect: DST513


def by_group(data):
    return DistributedSampler(data, count, dist.get_rank())  # expect: DST513


def of_launcher(data):
    return DistributedSampler(  # expect: DST513
        data, num_replicas=int(os.environ["LOCAL_WORLD_SIZE"]), rank=int(os.environ["RANK"])
    )
