"""T4. Point-to-point roles: a send and its receive have to depend on the rank."""

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.full((2,), float(rank))
if rank == 0:
    dist.send(x, dst=1)
elif rank == 1:
    dist.recv(x, src=0)
dist.barrier()
print("x =", x.tolist())
dist.destroy_process_group()
