import os

import torch.distributed as dist
from torch.utils.data import DistributedSampler

from group import join


def main(data):
    join()
    rank = int(os.environ["LOCAL_RANK"])
    return DistributedSampler(data, num_replicas=dist.get_world_size(), rank=rank)
