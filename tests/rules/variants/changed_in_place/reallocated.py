import torch
import torch.distributed as dist


def train(loader, rank, stopped=None):
    for batch in loader:
        loss = batch.mean()
        if rank == 0:
            if loss.isnan():
                stopped = torch.ones(1)
            else:
                stopped = None
        if stopped is not None:  # expect: DST110
            dist.broadcast(stopped, src=0)
            break
