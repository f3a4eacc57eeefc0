"""Only the members of a group use it."""

import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
group = dist.new_group(list(range(32)))
if rank < 32:
    dist.barrier(group=group)
