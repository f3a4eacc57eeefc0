import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


class Data:
    def __init__(self, ds):
        self.ds = ds
        self.loader = None

    def setup(self):
        sampler = DistributedSampler(self.ds)  # expect: DST203
        self.loader = DataLoader(self.ds, batch_size=2, sampler=sampler)
