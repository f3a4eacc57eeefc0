"""What has been filled since is not known any more."""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", rank)
hits = torch.zeros(10, device=device)
seen = torch.zeros(1, device=device)
for batch in range(3):
    hits = hits + batch
    seen = torch.cat([seen, seen])
dist.all_reduce(hits)
dist.all_reduce(seen)
