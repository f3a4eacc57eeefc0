import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
for step in range(9):
    dist.all_reduce(x)
    if time.time() < 9:
        print("on")
    else:
        break
