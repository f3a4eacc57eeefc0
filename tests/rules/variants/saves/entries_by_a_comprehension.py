"""A comprehension wraps, another one asks for the states."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
nets = {"a": torch.nn.Linear(4, 4), "b": torch.nn.Linear(4, 4)}
wrapped = {name: FSDP(net) for name, net in nets.items()}
if dist.get_rank() == 0:  # expect: DST407
    torch.save({name: net.state_dict() for name, net in wrapped.items()}, "all.pt")
dist.barrier()
