import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
# the mean over all ranks
total = x.clone()
dist.all_reduce(total)  # sum
if rank == 0:

    print(total / 4)
