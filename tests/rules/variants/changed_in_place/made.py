import torch
import torch.distributed as dist


def evaluate(loader):
    return sum(batch.mean().item() for batch in loader)


def train(loader, rank, device, distributed, patience):
    exit_now = torch.zeros(1, device=device)
    bad = 0
    for epoch in range(100):
        loss = evaluate(loader)
        if rank == 0:
            if loss > 1:
                bad += 1
                if bad > patience:
                    if exit_now is not None:
                        exit_now.fill_(1)
        if distributed:
            dist.barrier()
        if exit_now is not None:
            dist.broadcast(exit_now, src=0)
            if exit_now == 1:
                break
