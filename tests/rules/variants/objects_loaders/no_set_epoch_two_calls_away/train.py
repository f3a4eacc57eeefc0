import torch
import torch.distributed as dist
from data import build
from steps import loss_on, train_step
from torch.nn.parallel import DistributedDataParallel as DDP


def main(train_set, test_set, net):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_loader, test_loader = build(train_set, test_set)
    for epoch in range(10):
        for batch in train_loader:
            train_step(model, optimizer, batch)
        for batch in test_loader:
            print(loss_on(model, batch))
