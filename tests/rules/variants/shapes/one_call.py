"""One call, with a size by rank."""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", rank)
size = 2 if rank == 0 else 3
dist.all_reduce(torch.ones(size, device=device))  # expect: DST111
