"""T15. DataLoader(shuffle=False) with a DistributedSampler: the sampler shuffles."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
ds = TensorDataset(torch.randn(64, 2))
sampler = DistributedSampler(ds)
loader = DataLoader(ds, batch_size=32, shuffle=False, sampler=sampler)
model = DDP(torch.nn.Linear(2, 1))
for epoch in range(2):
    sampler.set_epoch(epoch)
    for (batch,) in loader:
        model(batch).mean().backward()
dist.destroy_process_group()
