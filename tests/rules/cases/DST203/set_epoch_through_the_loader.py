from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler)
for epoch in range(9):
    loader.sampler.set_epoch(epoch)
    for batch in loader:
        step(batch)
