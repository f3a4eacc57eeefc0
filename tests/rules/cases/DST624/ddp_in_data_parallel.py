import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")


def both(net):
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model = torch.nn.DataParallel(model)  # expect: DST624
    return model, optimizer


def one_of_two(net, distributed):
    model = net.cuda()
    if distributed:
        model = DDP(model)
    else:
        model = torch.nn.DataParallel(model)
    return model


def perhaps(net, distributed):
    model = net.cuda()
    if distributed:
        model = DDP(model)
    return torch.nn.DataParallel(model)


class Trainer:
    def __init__(self, net):
        self.model = DDP(net)
        self.model = torch.nn.DataParallel(self.model.module)


class Chosen:
    def __init__(self, net):
        self.model = net

    def across_nodes(self):
        self.model = DDP(self.model)

    def in_one_process(self):
        self.model = torch.nn.DataParallel(self.model)
