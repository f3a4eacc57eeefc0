import torch
from torch.utils.data import IterableDataset


class Shards(IterableDataset):
    def __init__(self, files, rank, world_size):
        self.files = files[rank::world_size]

    def __iter__(self):
        for f in self.files:
            yield from torch.load(f)
