import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
def save():
    if rank == 0:  # rank 0 alone
        torch.save(x, "x.pt")
    dist.barrier()


save()
