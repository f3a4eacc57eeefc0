"""The receivers have another shape than the source."""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", rank)
if rank == 0:  # expect: DST105
    dist.broadcast(torch.ones(4, 2, device=device), src=0)
else:
    dist.broadcast(torch.empty(2, 4, device=device), src=0)
