"""Both arms make one shape."""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", rank)
if rank == 0:
    value = torch.ones(3, device=device)
else:
    value = torch.zeros((3,), device=device)
dist.all_reduce(value)
