"""Apex's wrapper is run by a helper on all ranks, and its backward on one."""
# static: needs apex
# needs: apex

import torch
import torch.distributed as dist
from apex.parallel import DistributedDataParallel


def forward(model, x):
    return model(x).sum()


dist.init_process_group("nccl")
model = DistributedDataParallel(torch.nn.Linear(2, 2).cuda())
loss = forward(model, torch.ones(2).cuda())
if dist.get_rank() == 0:  # expect: DST115
    loss.backward()
