import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
if rank == 0:
    parts = [torch.empty(1) for _ in range(4)]
    dist.gather(x, parts, dst=0)
