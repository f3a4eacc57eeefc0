import os

import torch.distributed as dist
from places import place

dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
place(rank)
