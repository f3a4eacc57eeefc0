import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net):
    dist.init_process_group("nccl")
    model = FSDP(net) if args.strategy != "ddp" else DDP(net)
    scaler = None
    if args.precision == "fp16" and args.strategy != "deepspeed":
        scaler = torch.amp.GradScaler("cuda")  # expect: DST626
    for x in args.loader:
        loss = model(x).mean()
        if scaler is None:
            loss.backward()
            args.optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(args.optimizer)
            scaler.update()
