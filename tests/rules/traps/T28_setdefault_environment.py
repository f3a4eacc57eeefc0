"""T28. setdefault for the launcher's variables: its values win."""

import os

import torch
import torch.distributed as dist

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29500")
os.environ.setdefault("RANK", "0")
os.environ.setdefault("WORLD_SIZE", "1")

dist.init_process_group("gloo")
x = torch.ones(1)
dist.all_reduce(x)
print("x =", x.item())
dist.destroy_process_group()
