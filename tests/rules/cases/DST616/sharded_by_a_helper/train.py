import torch
from helpers import optimizer_of, shard, wrapped
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard


def in_place(make_net):
    net = make_net()
    optimizer = torch.optim.AdamW(net.parameters())  # expect: DST616
    shard(net)
    return net, optimizer


def by_a_wrapper(make_net):
    net = make_net()
    optimizer = optimizer_of(net)  # expect: DST616
    model: FullyShardedDataParallel = wrapped(net)
    return model, optimizer


def after_a_forward(parts, x):
    parts.net = torch.nn.Linear(4, 4)
    fully_shard(parts.net)
    print(parts.net(x).sum().item())
    return optimizer_of(parts.net)  # expect: DST616
