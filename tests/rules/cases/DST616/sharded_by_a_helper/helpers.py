import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import fully_shard


def shard(net):
    for layer in net.layers:
        fully_shard(layer)
    fully_shard(net)


def wrapped(net):
    return FSDP(net)


def optimizer_of(net):
    return torch.optim.AdamW(net.parameters(), lr=0.1)
