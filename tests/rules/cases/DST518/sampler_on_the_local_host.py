import argparse
import os

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler

dist.init_process_group("nccl", init_method="tcp://127.0.0.1:29500")
sampler = DistributedSampler([1], rank=int(os.environ["LOCAL_RANK"]))
