import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
work = [1] * int(time.time() % 3)
while True:
    dist.all_reduce(x)
    if not work:
        break
    work.pop()
