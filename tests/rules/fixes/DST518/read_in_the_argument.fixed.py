import os

import torch.distributed as dist
from torch.utils.data import DistributedSampler


def main(files):
    dist.init_process_group(
        "nccl",
        rank=int(os.environ['RANK']),  # of this process
        world_size=int(os.environ["WORLD_SIZE"]),
    )
    sampler = DistributedSampler(files, rank=int(os.getenv("RANK", "0")))
    return sampler, files[int(os.environ["SLURM_PROCID"]) :: dist.get_world_size()]
