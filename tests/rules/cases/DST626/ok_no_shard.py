import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy


def main(net, loader):
    model = FSDP(net, sharding_strategy=ShardingStrategy.NO_SHARD)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = GradScaler()
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
