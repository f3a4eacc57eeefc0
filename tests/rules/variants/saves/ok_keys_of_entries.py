"""The names of what is kept are no models."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(config):
    dist.init_process_group("nccl")
    nets = {name: FSDP(torch.nn.Linear(4, width)) for name, width in config.items()}
    if dist.get_rank() == 0:
        for name in nets:
            print(name.state_dict)
        print(len(nets), sorted(nets.keys()))
    dist.barrier()
