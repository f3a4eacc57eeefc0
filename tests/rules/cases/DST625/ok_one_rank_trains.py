import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def serve(rank):
    while True:
        task = [None]
        dist.recv_object_list(task, src=rank)


def learn(loader):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
        scheduler.step()


def main(loader):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    if rank == 0:
        learn(loader)
    else:
        serve(rank)
