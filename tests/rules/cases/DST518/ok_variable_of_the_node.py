import os

import torch
import torch.distributed as dist

os.environ["RANK"] = os.environ["SLURM_LOCALID"]
os.environ["WORLD_SIZE"] = str(torch.cuda.device_count())
dist.init_process_group("nccl")
