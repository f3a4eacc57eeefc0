import time
import torch
import torch.distributed as dist
from distlint.runtime import all_ranks

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
n = 0
while all_ranks(n < 100 and time.time() < 9):
    dist.all_reduce(x)
    n += 1
