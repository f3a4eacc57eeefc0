"""T41. The result of a reduce is read on its destination only."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
total = torch.tensor(1.0 + rank)
dist.reduce(total, dst=0)
if rank == 0:
    print(total.item())
dist.destroy_process_group()
