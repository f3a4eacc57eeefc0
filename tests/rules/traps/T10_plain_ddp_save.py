"""T10. torch.save on rank 0 of a plain DDP model: the recommended form."""

import os
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()
net = torch.nn.Linear(2, 2)
ddp = DDP(net)
ddp(torch.ones(1, 2)).sum().backward()
if rank == 0:
    torch.save(ddp.module.state_dict(), os.path.join(tempfile.mkdtemp(), "model.pt"))
dist.barrier()
dist.destroy_process_group()
