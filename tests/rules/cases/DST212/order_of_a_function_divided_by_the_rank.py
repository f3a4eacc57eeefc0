import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


def order(count):
    return torch.randperm(count).tolist()  # expect: DST212


def main(data):
    dist.init_process_group("nccl")
    indices = order(len(data))
    part = len(indices) // dist.get_world_size()
    start = dist.get_rank() * part
    mine = indices[start : start + part]
    return Subset(data, mine)


if __name__ == "__main__":
    main(range(100))
