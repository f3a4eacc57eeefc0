import torch
import torch.distributed as dist


def evaluate(loader):
    return sum(batch.mean().item() for batch in loader)


def train(loader, rank, device, distributed, patience, epochs, log):
    lowest, bad = float("inf"), 0
    exit_now = torch.zeros(1, device=device) if distributed else None
    epoch = 0
    while epoch < epochs:
        loss = evaluate(loader)
        if epoch % log == 0:
            if rank == 0:
                if loss >= lowest:
                    bad += 1
                    if bad >= patience:
                        if exit_now is not None:
                            exit_now.fill_(1)
                else:
                    lowest, bad = loss, 0
        if distributed:
            dist.barrier()
        if exit_now is not None:
            dist.broadcast(exit_now, src=0)
            if exit_now == 1:
                break
        epoch += 1
