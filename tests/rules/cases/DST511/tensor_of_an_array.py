import os

import torch
import torch.distributed as dist
import numpy as np


def main(counts):
    dist.init_process_group("nccl")
    total = torch.from_numpy(np.asarray(counts))
    dist.all_reduce(total)  # expect: DST511
    sizes = torch.LongTensor([1, 2])
    dist.broadcast(sizes, src=0)  # expect: DST511
