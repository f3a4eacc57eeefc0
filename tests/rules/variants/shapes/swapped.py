"""Two reductions in another order on rank 0."""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", rank)
hits = torch.zeros(10, device=device)
seen = torch.zeros(1, device=device)
if rank == 0:  # expect: DST105
    dist.all_reduce(hits)
    dist.all_reduce(seen)
else:
    dist.all_reduce(seen)
    dist.all_reduce(hits)
