import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("nccl")
sampler = DistributedSampler([1], rank=int(os.environ["LOCAL_RANK"]))  # expect: DST518
