"""T2. The same collective in both arms: only the argument differs."""

import torch
import torch.distributed as dist


def buffer_like(tensor):
    return torch.empty_like(tensor)


dist.init_process_group("gloo")
rank = dist.get_rank()
weights = torch.full((3,), float(rank + 1))
if rank == 0:
    dist.broadcast(weights, src=0)
else:
    received = buffer_like(weights)
    dist.broadcast(received, src=0)
    weights.copy_(received)
print("weights =", weights.tolist())
dist.destroy_process_group()
