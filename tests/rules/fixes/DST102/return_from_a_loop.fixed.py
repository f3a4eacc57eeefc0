import time
import torch
import torch.distributed as dist
from distlint.runtime import any_rank

dist.init_process_group("gloo")
rank = dist.get_rank()
x = torch.ones(1)
def train():
    for step in range(9):
        dist.all_reduce(x)
        if any_rank(time.time() > 9):
            return step
    return 9


train()
