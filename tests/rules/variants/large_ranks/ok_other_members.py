"""Two groups that are disjoint, each used by its members."""

import torch.distributed as dist

dist.init_process_group("gloo")
low = dist.new_group(range(64))
high = dist.new_group([64, 65])
if dist.get_rank() < 64:
    dist.barrier(group=low)
elif dist.get_rank() in (64, 65):
    dist.barrier(group=high)
