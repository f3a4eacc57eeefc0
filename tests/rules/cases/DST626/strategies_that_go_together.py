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


def main(args, net):
    dist.init_process_group("nccl")
    model = build(args, net)
    dtype = torch.float16 if args.half else torch.bfloat16
    scaler = torch.amp.GradScaler("cuda", enabled=dtype == torch.float16)  # expect: DST626
    teacher = DDP(nn.Linear(2, 2).cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    for x in args.loader:
        loss = (model(x) - teacher(x)).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
