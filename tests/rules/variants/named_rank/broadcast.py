import torch
import torch.distributed as dist


def evaluate(loader):
    return sum(batch.mean().item() for batch in loader)


def train(loader, rank, patience):
    exit_now = None
    for epoch in range(100):
        loss = evaluate(loader)
        if rank == 0 and loss > patience:  # expect: DST101
            exit_now = torch.ones(1)
            dist.broadcast(exit_now, src=0)
