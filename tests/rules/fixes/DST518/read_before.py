import os

import torch.distributed as dist
from accelerate import Accelerator
from torch.utils.data import DistributedSampler

accelerator = Accelerator()
local_rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl", rank=local_rank, world_size=int(os.environ["WORLD_SIZE"]))
sampler = DistributedSampler([1], rank=accelerator.local_process_index)
