"""A forward through .module communicates in SyncBatchNorm."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, x):
    dist.init_process_group("nccl")
    net = torch.nn.SyncBatchNorm.convert_sync_batchnorm(net)
    model = DDP(net)
    model.train()
    if dist.get_rank() == 0:  # expect: DST115
        model.module(x)
    dist.barrier()
