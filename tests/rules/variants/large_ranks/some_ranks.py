"""Two ranks by their numbers."""

import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank in (16, 48):  # expect: DST101
    dist.barrier()
