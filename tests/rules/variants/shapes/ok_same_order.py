"""The same order on all ranks."""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", rank)
hits = torch.zeros(10, device=device)
seen = torch.zeros(1, device=device)
dist.all_reduce(hits)
dist.all_reduce(seen)
if rank == 0:
    print(hits / seen)
