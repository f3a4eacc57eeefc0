import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy


def shard(net):
    for name, layer in net.named_children():
        setattr(net, name, FSDP(layer, auto_wrap_policy=size_based_auto_wrap_policy))
    return FSDP(net)


def main(net, loader):
    dist.init_process_group("nccl")
    scaler = torch.cuda.amp.GradScaler(init_scale=2.0**12)  # expect: DST626
    model = shard(net)
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
