import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    dist.init_process_group("nccl")
    teacher = FSDP(nn.Linear(2000, 2000).cuda())
    teacher.eval().requires_grad_(False)
    student = DDP(nn.Linear(2, 2).cuda())
    optimizer = torch.optim.AdamW(student.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for x in args.loader:
        with torch.no_grad():
            target = teacher(x)
        loss = (student(x) - target).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
