import torch
import torch.distributed as dist
from data import *
from steps import *
from torch.nn.parallel import DistributedDataParallel as DDP


def main(train_set, test_set, net, steps):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_loader, test_loader = build(train_set, test_set)

    def cyclic_iter(loader):
        while True:
            for x in loader:
                yield x

    train_iterator = iter(cyclic_iter(train_loader))
    step = 0
    while step < steps:
        train_step(model, optimizer, next(train_iterator))
        step += 1
