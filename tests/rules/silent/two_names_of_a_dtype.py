"""What one rank calls ``long`` is ``int64`` on the others."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    dist.broadcast(torch.tensor([3]), src=0)
else:
    dist.broadcast(torch.empty(1, dtype=torch.long), src=0)
dist.barrier()
dist.destroy_process_group()
