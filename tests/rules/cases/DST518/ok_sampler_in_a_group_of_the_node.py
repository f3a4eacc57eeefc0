import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

local_rank = int(os.environ["LOCAL_RANK"])
dist.init_process_group("nccl", rank=local_rank, world_size=torch.cuda.device_count())
sampler = DistributedSampler([1], rank=local_rank)
