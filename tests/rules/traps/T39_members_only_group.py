"""T39. Only the members create the group, with local synchronisation."""
# ranks: 4

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
members = [1, 2]
x = torch.tensor(float(rank))
if rank in members:
    g = dist.new_group(members, use_local_synchronization=True)
    dist.all_reduce(x, group=g)
everyone = dist.new_group()
dist.barrier(group=everyone)
print(f"rank {rank}: {x.item()}")
dist.destroy_process_group()
