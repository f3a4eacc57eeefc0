"""Printing and making a tensor do not fail on one rank, so the handler takes none of them away."""

import logging

import torch
import torch.distributed as dist

logger = logging.getLogger(__name__)
dist.init_process_group("gloo")
try:
    print("begin", dist.get_rank())
    logger.info("begin %d", dist.get_rank())
    total = torch.zeros(1)
    dist.all_gather([torch.zeros(1) for _ in range(dist.get_world_size())], total)
except ValueError:
    pass
dist.barrier()
