"""A checkpointer is given what it saves as keywords."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Checkpointer:
    def __init__(self, folder, **parts):
        self.folder = folder
        self.parts = parts

    def save(self, name):
        if dist.get_rank() == 0:  # expect: DST407
            state = {}
            for key, part in self.parts.items():
                state[key] = part.state_dict()
            torch.save(state, f"{self.folder}/{name}.pt")
        dist.barrier()


dist.init_process_group("nccl")
net = FSDP(torch.nn.Linear(4, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
Checkpointer("out", model=net, optimizer=optimizer).save("last")
