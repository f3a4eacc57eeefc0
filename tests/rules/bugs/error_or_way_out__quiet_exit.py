"""A block that ends in a raise may exit with success before."""
# static: whether the ranks part is up to a random number

import os
import sys

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


if loss.item() > 0.5:
    if os.environ.get("QUIET"):
        sys.exit(0)  # expect: DST117
    raise RuntimeError("bad")
dist.all_reduce(loss)
