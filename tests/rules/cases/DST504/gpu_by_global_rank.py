import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
device = torch.device(f"cuda:{rank}" if torch.cuda.is_available() else "cpu")  # expect: DST504
