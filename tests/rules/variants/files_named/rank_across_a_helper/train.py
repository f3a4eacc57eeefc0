"""The name is made with the rank, in a function of another file."""

import numpy as np
import torch.distributed as dist
from naming import file_of, numbered, part_name


def main(features, folder, total):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    for _ in range(4):
        np.savez(file_of(folder, rank, total), features=features)
        total += dist.get_world_size()
    np.save(part_name(folder, dist.get_rank()), features)
    np.save(numbered(folder), features)
