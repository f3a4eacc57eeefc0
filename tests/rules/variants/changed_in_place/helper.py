import torch
import torch.distributed as dist


def evaluate(loader):
    return sum(batch.mean().item() for batch in loader)


class Stopper:
    def __init__(self, distributed, device):
        self.flag = torch.zeros(1, device=device) if distributed else None

    def stop(self):
        if self.flag is not None:
            self.flag.add_(1)


def train(loader, rank, device, distributed, patience):
    stopper = Stopper(distributed, device)
    for epoch in range(100):
        loss = evaluate(loader)
        if rank == 0 and loss > patience:
            stopper.stop()
        if stopper.flag is not None:
            dist.broadcast(stopper.flag, src=0)
            if stopper.flag.item() == 1:
                break
