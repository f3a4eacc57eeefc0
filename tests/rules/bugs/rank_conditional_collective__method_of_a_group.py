"""Rank 0 alone sums up, by a method of the process group."""
# effect: hang

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
group = dist.new_group(list(range(dist.get_world_size())))
loss = torch.ones(1)
if dist.get_rank() == 0:  # expect: DST101
    group.allreduce([loss]).wait()
    print(loss.item() / dist.get_world_size())
dist.barrier()
