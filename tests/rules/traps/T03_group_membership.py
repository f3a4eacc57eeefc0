"""T3. A collective on a group, under a test for membership of that group."""
# ranks: 4

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
tp = dist.new_group([0, 1])
x = torch.tensor(float(rank))
if rank in (0, 1):
    dist.all_reduce(x, group=tp)
dist.barrier()
print(f"rank {rank}: {x.item()}")
dist.destroy_process_group()
