import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
with local_rank_zero_download_and_wait("data"):
    if rank == 0:
        dist.all_reduce(x)
