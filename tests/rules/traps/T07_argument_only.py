"""T7. The rank decides an argument only: the list of a gather is on the root."""
# ranks: 4

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
x = torch.full((2,), float(rank))
outs = [torch.empty_like(x) for _ in range(world)] if rank == 0 else None
dist.gather(x, gather_list=outs, dst=0)
if rank == 0:
    print(torch.stack(outs).sum(0).tolist())
dist.destroy_process_group()
