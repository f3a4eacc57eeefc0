"""All ranks ask for the states of all entries, and one writes."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
models = {"a": FSDP(torch.nn.Linear(4, 4)), "b": FSDP(torch.nn.Linear(4, 4))}
states = {}
for name, model in models.items():
    states[name] = model.state_dict()
if dist.get_rank() == 0:
    for name, state in states.items():
        torch.save(state, f"{name}.pt")
dist.barrier()
