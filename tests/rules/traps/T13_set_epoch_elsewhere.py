"""T13. set_epoch by another route: through the loader, behind hasattr."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def train(model, loader):
    for (batch,) in loader:
        model(batch).mean().backward()


dist.init_process_group("gloo")
data = TensorDataset(torch.randn(10, 2))
loader = DataLoader(data, batch_size=2, sampler=DistributedSampler(data))
model = DDP(torch.nn.Linear(2, 1))
epochs = 2
for epoch in range(epochs):
    if hasattr(loader.sampler, "set_epoch"):
        loader.sampler.set_epoch(epoch)
    train(model, loader)
dist.destroy_process_group()
