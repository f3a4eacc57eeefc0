"""Sizes may differ where they are gathered."""

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device("cuda", rank)
sizes = [torch.zeros(1) for _ in range(2)]
dist.all_gather_object([None] * 2, torch.ones(rank + 1))
dist.all_gather(sizes, torch.ones(1))
