import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def is_main_process():
    return dist.get_rank() == 0


def train_one_epoch(model, loader, optimizer):
    for inputs in loader:
        optimizer.zero_grad()
        model(inputs).sum().backward()
        optimizer.step()


def main(args, loader):
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 1).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    lr_scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    for epoch in range(args.epochs):
        train_one_epoch(model, loader, optimizer)
        if is_main_process():
            lr_scheduler.step()  # expect: DST625
            print("lr", lr_scheduler.get_last_lr())
