"""Evaluation reduces its counts, and patience looks at the loss of this rank."""
# effect: hang

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))

    def forward(self, x):
        return self.body(x)


def batches(count):
    return [(torch.randn(4, 4), torch.randint(0, 2, (4,))) for _ in range(count)]


def is_main():
    return dist.get_rank() == 0


@torch.no_grad()
def accuracy(model, loader):
    counts = torch.zeros(2)
    for x, y in loader:
        counts[0] += (model(x).argmax(1) == y).sum()
        counts[1] += len(y)
    dist.all_reduce(counts)
    return (counts[0] / counts[1]).item()


def train_one_epoch(model, loader, optimizer, log_every):
    running = 0.0
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
        if step % log_every == 0 and is_main():
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    return running / max(1, len(loader))


def main(loader, val_loader, epochs, log_every):
    model = DDP(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best, bad, patience = float("inf"), 0, 2
    for epoch in range(epochs):
        loss = train_one_epoch(model, loader, optimizer, log_every)
        score = accuracy(model, val_loader)
        if is_main():
            print(f"epoch {epoch} accuracy {score:.3f}", flush=True)
        if loss < best:
            best, bad = loss, 0
        else:
            bad += 1
        if bad >= patience:
            break  # expect: DST102


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
main(batches(3), batches(2), epochs=40, log_every=2)
