from functools import partial

import torch
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, fully_shard
from torch.distributed.fsdp import MixedPrecisionPolicy

HALF = MixedPrecision(param_dtype=torch.float16, reduce_dtype=torch.float16)  # expect: DST605


def build(net):
    return FullyShardedDataParallel(net, mixed_precision=HALF)


def build_by_layers(net):
    dtype = torch.half
    options = {"mp_policy": MixedPrecisionPolicy(param_dtype=dtype)}  # not followed
    policy = MixedPrecisionPolicy(dtype, reduce_dtype=torch.float32)  # expect: DST605
    for layer in net.layers:
        fully_shard(layer, mp_policy=policy)
    fully_shard(net, **options)
    return net


def build_in_bfloat16(net):
    return FullyShardedDataParallel(net, mixed_precision=MixedPrecision(torch.bfloat16))


class Trainer:
    def __init__(self, net):
        self.model = build(net)
        self.optimizer = torch.optim.AdamW(self.model.parameters())

    def train(self, loader):
        for batch in loader:
            self.optimizer.zero_grad()
            self.model(batch).mean().backward()
            self.optimizer.step()
