"""The number on the left."""

import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if 64 <= rank:  # expect: DST101
    dist.barrier()
