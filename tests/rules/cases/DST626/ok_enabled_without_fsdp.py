import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap(net, args):
    if args.fsdp:
        return FSDP(net)
    return DDP(net)


def main(args):
    dist.init_process_group("nccl")
    model = wrap(nn.Linear(2, 2).cuda(), args)
    use_scaler = args.fp16 and not args.fsdp
    scaler = torch.cuda.amp.GradScaler(enabled=use_scaler)
    for x in args.loader:
        loss = model(x).mean()
        scaler.scale(loss).backward()
        scaler.step(args.opt)
        scaler.update()
