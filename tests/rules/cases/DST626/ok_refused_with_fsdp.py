import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(args, model, loader):
    if args.fsdp:
        model = FSDP(model)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = None
    if args.precision == "amp":
        assert not args.fsdp, "only amp_bfloat16"
        scaler = GradScaler()
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
