import time
import torch
import torch.distributed as dist
from distlint.runtime import all_ranks

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
for step in range(9):
    dist.all_reduce(x)
    if all_ranks(time.time() < 9):
        print("on")
    else:
        break
