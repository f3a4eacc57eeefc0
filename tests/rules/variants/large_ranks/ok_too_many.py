"""The job is too large: an error on all ranks that are too many."""

import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank >= 1024:
    raise ValueError("at most 1024 ranks")
dist.barrier()
