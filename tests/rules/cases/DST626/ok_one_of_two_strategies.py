import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    dist.init_process_group("nccl")
    net = nn.Linear(2, 2)
    if args.strategy == "fsdp":
        model = FSDP(net)
    elif args.strategy == "ddp":
        model = DDP(net)
    scaler = None
    if args.strategy == "ddp":
        scaler = torch.amp.GradScaler("cuda")
    for x in args.loader:
        loss = model(x).mean()
        if scaler:
            scaler.scale(loss).backward()
            scaler.step(args.opt)
            scaler.update()
        else:
            loss.backward()
            args.opt.step()
