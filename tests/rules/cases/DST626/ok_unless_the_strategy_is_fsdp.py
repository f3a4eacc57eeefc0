import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


def build(args, net):
    if args.strategy == "fsdp":
        return FSDP(net)
    return DDP(net)


def main(args):
    dist.init_process_group("nccl")
    model = build(args, nn.Linear(2, 2))
    scaler = torch.amp.GradScaler("cuda") if args.strategy != "fsdp" else None
    for x in args.loader:
        loss = model(x).mean()
        if scaler:
            scaler.scale(loss).backward()
            scaler.step(args.opt)
            scaler.update()
        else:
            loss.backward()
            args.opt.step()
