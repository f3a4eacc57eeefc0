"""The test of the file is around that of the rank."""

import os

import numpy as np
import torch.distributed as dist


def statistics(data, path):
    rank = dist.get_rank()
    if not os.path.isfile(path):
        if rank == 0:
            np.save(path, data.mean(axis=0))
    return np.load(path)  # expect: DST408


def main(data):
    dist.init_process_group("gloo")
    statistics(data, "mean.npy")
