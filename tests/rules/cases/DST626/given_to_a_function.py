import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy


def train(model, loader, optimizer, scaler):
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scaler.update()


def main(args, net, loader):
    dist.init_process_group("nccl")
    model = FSDP(net)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = GradScaler(enabled=args.amp)  # expect: DST626
    train(model, loader, optimizer, scaler)
