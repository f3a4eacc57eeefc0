import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def decay(optimizer, epoch):
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * 0.5**epoch


def adjust_learning_rate(optimizer, epoch):
    if epoch > 3:
        decay(optimizer, epoch)


def main(loader, epochs):
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        if dist.get_rank() == 0:
            print(epoch)
            adjust_learning_rate(optimizer, epoch)  # expect: DST625
        for batch in loader:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
