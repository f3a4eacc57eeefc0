import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
def stop(rank):
    while True:
        dist.all_reduce(x)
        if rank == 0:
            if time.time() > 9:
                break


stop(x.dim())
