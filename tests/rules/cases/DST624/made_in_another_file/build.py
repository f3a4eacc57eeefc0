import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def make(width):
    net = DDP(make_plain(width))
    return net, torch.optim.SGD(net.parameters(), lr=0.1)


def make_plain(width):
    return torch.nn.Linear(width, 1).cuda()


def make_some(width, wrap):
    net = make_plain(width)
    if wrap:
        net = DDP(net)
    return net
