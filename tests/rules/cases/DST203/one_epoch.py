from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

sampler = DistributedSampler(data)
loader = DataLoader(data, sampler=sampler)
for epoch in range(1):
    for b in loader:
        step(b)
