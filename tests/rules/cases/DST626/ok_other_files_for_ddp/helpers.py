import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP


def make_scaler():
    return torch.amp.GradScaler("cuda")


def replicate(net):
    return DDP(net)


def shard(args, net):
    assert not args.half
    return FSDP(net)
