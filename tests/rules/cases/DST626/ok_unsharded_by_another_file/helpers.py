import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy


def make_scaler():
    return torch.amp.GradScaler("cuda")


def unsharded(net):
    return FSDP(net, sharding_strategy=ShardingStrategy.NO_SHARD)
