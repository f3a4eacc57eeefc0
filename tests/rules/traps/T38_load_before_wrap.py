"""T38. Weights are loaded on rank 0 only, before the wrap: DDP sends them to all."""

import os
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()
net = torch.nn.Linear(2, 2)
if rank == 0:
    path = os.path.join(tempfile.mkdtemp(), "weights.pt")
    torch.save({"weight": torch.eye(2), "bias": torch.zeros(2)}, path)
    net.load_state_dict(torch.load(path, map_location="cpu"))
ddp = DDP(net)
print("weights =", ddp.module.weight.tolist())
dist.destroy_process_group()
