import time
import torch
import torch.distributed as dist
from distlint.runtime import any_rank

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
while True:
    dist.all_reduce(x)
    stop = False
    if time.time() > 9:
        print("late")
        if x.dim():
            stop = True
    if any_rank(stop):
        break
