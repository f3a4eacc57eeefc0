import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import fully_shard


def shard(net):
    fully_shard(net)


def wrapped(net):
    return FSDP(net)


def with_its_parameters(net):
    return FSDP(net, use_orig_params=True)


def optimizer_of(net):
    return torch.optim.AdamW(net.parameters(), lr=0.1)
