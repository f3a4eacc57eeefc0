import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["RANK"]))  # expect: DST504
dist.init_process_group("nccl")
