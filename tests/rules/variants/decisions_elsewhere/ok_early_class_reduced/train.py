import math
import os
import time
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from engine import fit


def main(net, data, val, args):
    dist.init_process_group("nccl")
    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    model = DDP(net.cuda(), device_ids=[local_rank])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler, drop_last=True)
    val_loader = DataLoader(val, batch_size=8, sampler=DistributedSampler(val))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    fit(model, loader, val_loader, val, sampler, optimizer, args, local_rank)
    dist.destroy_process_group()
