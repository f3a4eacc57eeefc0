"""One method of a class makes the cache on rank 0, and another one reads it."""

import os

import numpy as np
import torch.distributed as dist


class Store:
    def __init__(self, folder):
        self.file = os.path.join(folder, "features.npy")
        self.rank = dist.get_rank()

    def prepare(self, data):
        if os.path.exists(self.file):
            return
        if self.rank == 0:
            np.save(self.file, data)

    def load(self):
        return np.load(self.file)  # expect: DST408


def main(data):
    dist.init_process_group("gloo")
    store = Store("data")
    store.prepare(data)
    return store.load()
