import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
rank, world = dist.get_rank(), dist.get_world_size()
data = TensorDataset(torch.randn(103, 4))
per = len(data) // world
end = len(data) if rank == world - 1 else (rank + 1) * per
loader = DataLoader(Subset(data, range(rank * per, end)), 8)
steps = per // 8
model = DDP(torch.nn.Linear(4, 1).cuda())
for step, (batch,) in enumerate(loader):
    if step >= steps:
        break
    model(batch.cuda()).mean().backward()
