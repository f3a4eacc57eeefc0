"""An object keeps its models in a dict, and a method wraps all of them."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Agent:
    def __init__(self):
        self.models = {}
        self.build()

    def build(self):
        self.models["actor"] = torch.nn.Linear(4, 2)
        self.models["critic"] = torch.nn.Linear(4, 1)
        for key, model in self.models.items():
            self.models[key] = FSDP(model)

    def save(self, folder):
        if dist.get_rank() == 0:  # expect: DST407
            for key, model in self.models.items():
                torch.save(model.state_dict(), f"{folder}/{key}.pt")
        dist.barrier()


dist.init_process_group("nccl")
agent = Agent()
agent.save("out")
