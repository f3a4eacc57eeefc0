"""The rank that is late reports it with a broadcast before it fails; the others wait elsewhere."""
# effect: hang

import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
started = time.time()
if dist.get_rank() == 1:
    time.sleep(0.1)
if time.time() - started > 0.05:  # expect: DST103
    dist.broadcast(torch.ones(1), src=1)
    raise TimeoutError("late")
dist.all_reduce(torch.ones(1))
