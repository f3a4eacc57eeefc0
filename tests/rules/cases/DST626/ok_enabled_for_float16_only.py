import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    dist.init_process_group("nccl")
    model = FSDP(nn.Linear(2, 2).cuda())
    dtype = torch.bfloat16
    scaler = torch.amp.GradScaler("cuda", enabled=(dtype == torch.float16))
    for x in args.loader:
        with torch.autocast("cuda", dtype=dtype):
            loss = model(x).mean()
        scaler.scale(loss).backward()
        scaler.step(args.opt)
        scaler.update()
