"""A scalar and a vector."""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", rank)
if rank == 0:
    total = torch.tensor(1.0, device=device)
else:
    total = torch.zeros((3,), device=device)
dist.all_reduce(total)  # expect: DST111
