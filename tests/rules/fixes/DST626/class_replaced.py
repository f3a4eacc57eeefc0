import torch
import torch.distributed as dist
from torch.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy


def main(net, loader):
    dist.init_process_group("nccl")
    model = FSDP(net)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = GradScaler(init_scale=1024.0)
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
