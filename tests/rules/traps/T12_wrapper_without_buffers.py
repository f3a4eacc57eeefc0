"""T12. Rank 0 calls a wrapper that does not broadcast buffers, without gradients."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()
net = torch.nn.Linear(3, 1)
ddp = DDP(net, broadcast_buffers=False)
sample = torch.ones(2, 3)
if rank == 0:
    with torch.no_grad():
        preview = ddp(sample)
    print(preview.shape)
dist.barrier()
dist.destroy_process_group()
