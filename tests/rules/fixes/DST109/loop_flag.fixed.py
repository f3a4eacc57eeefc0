import time
import torch
import torch.distributed as dist
from distlint.runtime import all_ranks

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
going = True
while all_ranks(going):
    dist.all_reduce(x)
    going = time.time() < 9
