"""Data that keeps a cache."""

import numpy as np
import torch.distributed as dist


class Images:
    def __init__(self, path, rank=-1):
        self.path = path
        self.rank = min(rank, dist.get_world_size())
        try:
            self.labels = np.load(self.path)
        except OSError:
            self.labels = self.scan()

    def scan(self):
        labels = [1, 2]
        np.save(self.path, labels)
        return labels
