# Only for a first look at the data.
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data)  # expect: DST203
loader = DataLoader(data, sampler=sampler)
loader.sampler.set_epoch(-1)
first = next(iter(loader))
for epoch in range(9):
    for batch in loader:
        step(batch)
