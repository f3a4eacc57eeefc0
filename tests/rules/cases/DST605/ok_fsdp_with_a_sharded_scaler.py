import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler


def main(net, loader):
    half = MixedPrecision(param_dtype=torch.float16)
    model = FSDP(net, mixed_precision=half)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = ShardedGradScaler()
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
