import torch
import torch.distributed as dist
from helpers import make_scaler, replicate, shard
from torch.amp import GradScaler


def main(args, net, make_teacher):
    dist.init_process_group("nccl")
    model, teacher = replicate(net), shard(args, make_teacher())
    optimizer = torch.optim.AdamW(model.parameters())
    scaler: GradScaler = make_scaler()
    for x in args.loader:
        scaler.scale((model(x) - teacher(x)).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
