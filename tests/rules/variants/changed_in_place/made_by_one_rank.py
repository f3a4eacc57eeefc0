import torch
import torch.distributed as dist


def evaluate(loader):
    return sum(batch.mean().item() for batch in loader)


def train(loader, device, distributed, patience):
    rank = dist.get_rank()
    exit_now = None
    for epoch in range(100):
        loss = evaluate(loader)
        if rank == 0 and loss > patience:
            exit_now = torch.ones(1)
        if exit_now is not None:  # expect: DST110
            dist.broadcast(exit_now, src=0)
            break
