import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    dist.init_process_group("nccl")
    use_fsdp = args.strategy == "fsdp"
    net = nn.Linear(2, 2)
    if use_fsdp:
        model = FSDP(net)
    else:
        model = DDP(net)
    scaler = None
    if args.fp16 and not use_fsdp:
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
