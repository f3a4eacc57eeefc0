import os

import torch.distributed as dist

if "RANK" not in os.environ:
    os.environ["RANK"] = os.environ["SLURM_LOCALID"]
os.environ.setdefault("RANK", os.environ["SLURM_LOCALID"])
os.environ["LOCAL_RANK"] = os.environ["SLURM_LOCALID"]
dist.init_process_group("nccl")
