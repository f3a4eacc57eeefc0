"""A try that swallows stands before the test: the hang needs no failure."""
# effect: hang

import os

import torch.distributed as dist

dist.init_process_group("gloo")
try:
    os.makedirs("out")
except OSError:
    pass
if dist.get_rank() == 0:  # expect: DST101
    dist.barrier()
