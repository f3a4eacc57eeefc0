from torch.utils.data import DataLoader, DistributedSampler


class DataModule:
    def __init__(self, ds):
        self.ds = ds
        self.train = DataLoader(ds, sampler=DistributedSampler(ds))

    def train_loader(self):
        return DataLoader(self.ds, sampler=DistributedSampler(self.ds))
