"""On a bad value a loop is left with success, or the process ends with an error."""
# static: whether the ranks part is up to a random number

import os
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


for number in range(10):
    value = torch.rand(1)
    if value.item() > 0.9:
        print("bad value")
        if os.environ.get("LENIENT"):
            break  # expect: DST102
        sys.exit(1)
    dist.all_reduce(value)
