from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Data:
    def __init__(self, ds):
        self.ds = ds
        self.setup()

    def setup(self):
        sampler = DistributedSampler(self.ds)
        self.loader = DataLoader(self.ds, batch_size=4, sampler=sampler)


def make(ds):
    sampler = DistributedSampler(ds)
    return DataLoader(ds, batch_size=4, sampler=sampler), sampler
