import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


def train_ddp(args):
    model = DDP(nn.Linear(2, 2).cuda())
    scaler = torch.amp.GradScaler("cuda")
    for x in args.loader:
        scaler.scale(model(x).mean()).backward()
        scaler.step(args.opt)
        scaler.update()


def train_fsdp(args):
    model = FSDP(nn.Linear(2, 2).cuda())
    for x in args.loader:
        model(x).mean().backward()
        args.opt.step()
