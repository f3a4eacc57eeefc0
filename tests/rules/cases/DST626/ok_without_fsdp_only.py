import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(args, model, loader):
    if args.fsdp:
        model = FSDP(model)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = None if args.fsdp else GradScaler()
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
