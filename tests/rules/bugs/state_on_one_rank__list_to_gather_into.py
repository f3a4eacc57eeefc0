"""Only the destination has a list to gather into, and whoever has one goes on to reduce."""
# effect: hang

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
mine = torch.ones(1)
parts = [torch.zeros(1) for _ in range(dist.get_world_size())] if rank == 0 else None
dist.gather(mine, parts, dst=0)
if parts is not None:  # expect: DST110
    dist.all_reduce(mine)
dist.destroy_process_group()
