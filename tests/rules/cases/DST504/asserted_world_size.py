import os

import torch
import torch.distributed as dist

RANK = int(os.getenv("RANK", "0"))
WORLD = int(os.getenv("WORLD_SIZE", "1"))
HERE = int(os.getenv("LOCAL_WORLD_SIZE", "1"))
assert WORLD == 2
torch.cuda.set_device(RANK)  # expect: DST504
