import os

import torch.distributed as dist

try:
    dist.init_process_group(
        "nccl", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"])
    )
    rank = dist.get_rank()
except (KeyError, ValueError):
    rank = 0
