import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
if rank == 0:
    # the mean over all ranks
    total = x.clone()
    dist.all_reduce(total)  # sum

    print(total / 4)
