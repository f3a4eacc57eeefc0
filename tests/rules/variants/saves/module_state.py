"""The state of the module inside, whose parts are wrapped as well."""

import functools

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(400, 400)

    def forward(self, x):
        return self.body(x)

    def export(self):
        return {"width": 400}


dist.init_process_group("nccl")
policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1000)
model = FSDP(Net(), auto_wrap_policy=policy)
if dist.get_rank() == 0:  # expect: DST407
    torch.save(model.module.state_dict(), "net.pt")
    print(model.module.export())
dist.barrier()
