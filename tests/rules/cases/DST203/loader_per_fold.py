# Each fold has a sampler of its own, and one epoch.
from torch.utils.data import DataLoader, DistributedSampler

for fold in folds:
    loader = DataLoader(fold, sampler=DistributedSampler(fold))
    for batch in loader:
        step(batch)
