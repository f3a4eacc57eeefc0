"""Python's generator without a seed."""

import random

import torch.distributed as dist

dist.init_process_group("gloo")
rng = random.Random()
for step in range(100):
    if rng.random() < 0.1:  # expect: DST103
        dist.barrier()
