"""A dict comprehension over an option wraps."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(config):
    dist.init_process_group("nccl")
    nets = {name: FSDP(torch.nn.Linear(4, width)) for name, width in config.items()}
    if dist.get_rank() == 0:  # expect: DST407
        for name, net in nets.items():
            torch.save(net.state_dict(), name)
    dist.barrier()
