import os

import torch.distributed as dist

os.environ["RANK"] = os.environ["SLURM_LOCALID"]  # expect: DST518
os.environ["WORLD_SIZE"] = os.environ["SLURM_NTASKS"]
dist.init_process_group("nccl")
