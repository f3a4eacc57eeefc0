"""A method of a module that is sharded in place meets the other ranks."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.body(x)

    def agree(self, value):
        dist.all_reduce(value)
        return value


dist.init_process_group("nccl")
model = Net()
fully_shard(model)
if dist.get_rank() == 0:  # expect: DST101
    print(model.agree(torch.ones(1)))
dist.barrier()
