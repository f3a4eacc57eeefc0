import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
if rank == 0:
    torch.save(x, "x.pt")
    dist.barrier()
else:
    print("waiting")
