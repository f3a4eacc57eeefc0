import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
folder = os.path.join(options.out, "logs")
if not os.path.isdir(folder):
    os.makedirs(folder, exist_ok=True)
if not os.path.exists(options.out):
    os.makedirs(options.out)
