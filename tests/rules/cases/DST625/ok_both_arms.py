import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(loader):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(2, 1))
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        if rank == 0:
            optimizer.step()
            scheduler.step()
            print("step")
        else:
            optimizer.step()
            scheduler.step()
