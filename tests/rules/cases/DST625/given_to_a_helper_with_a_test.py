import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def log_and_step(epoch, scheduler, rank):
    if rank == 0:
        print(epoch)
        scheduler.step()  # expect: DST625


def main(loader, epochs):
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for epoch in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
        log_and_step(epoch, scheduler, dist.get_rank())
