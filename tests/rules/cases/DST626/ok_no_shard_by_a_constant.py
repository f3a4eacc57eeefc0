import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


STRATEGY = ShardingStrategy.NO_SHARD


def main(args):
    dist.init_process_group("nccl")
    model = FSDP(nn.Linear(2, 2).cuda(), sharding_strategy=STRATEGY)
    scaler = torch.amp.GradScaler("cuda")
    for x in args.loader:
        loss = model(x).mean()
        scaler.scale(loss).backward()
        scaler.step(args.opt)
        scaler.update()
