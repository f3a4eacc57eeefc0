import torch
import torch.distributed as dist
from engine import train_one_epoch
from rates import adjust_learning_rate
from torch.nn.parallel import DistributedDataParallel as DDP


def main(loader, epochs):
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(epochs):
        if dist.get_rank() == 0:
            rate = adjust_learning_rate(optimizer, epoch)  # expect: DST625
            print(rate)
        train_one_epoch(model, loader, optimizer)
