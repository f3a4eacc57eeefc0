import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.utils import clip_grad_norm_


def shard(model, policy=None):
    return FSDP(model, auto_wrap_policy=policy)


def main(net, x):
    model = shard(net)
    model(x).sum().backward()
    clip_grad_norm_(model.parameters(), 1.0)  # expect: DST611
