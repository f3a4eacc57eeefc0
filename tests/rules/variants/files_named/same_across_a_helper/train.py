"""The twin: the helper gets the rank, but leaves it out of the name."""

import numpy as np
import torch.distributed as dist
from naming import file_of


def main(features, folder, total):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    if rank == 0:
        print(total)
    np.savez(file_of(folder, total), features=features)  # expect: DST406
