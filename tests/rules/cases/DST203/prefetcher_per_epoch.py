# A class of the script creates a new iterator in each epoch.
from torch.utils.data import DataLoader, DistributedSampler


class Prefetcher:
    def __init__(self, loader):
        self.batches = iter(loader)


sampler = DistributedSampler(data)  # expect: DST203
loader = DataLoader(data, sampler=sampler)
for epoch in range(9):
    batches = Prefetcher(loader)
    step(batches)
