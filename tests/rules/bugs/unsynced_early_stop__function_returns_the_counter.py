"""A function takes the counter and returns the new one, with a verdict."""
# effect: hang

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))

    def forward(self, x):
        return self.body(x)


def batches(count):
    return [(torch.randn(4, 4), torch.randint(0, 2, (4,))) for _ in range(count)]


def is_main():
    return dist.get_rank() == 0


def patience_left(loss, best, bad, patience):
    if loss < best:
        return loss, 0, False
    return best, bad + 1, bad + 1 >= patience


@torch.no_grad()
def evaluate(model, loader):
    hits = torch.zeros(1)
    for x, y in loader:
        hits += (model(x).argmax(1) == y).float().sum()
    dist.all_reduce(hits)
    return hits.item()


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
    best, bad, most = float("inf"), 0, 0.0
    for _ in range(epochs):
        loss = train_one_epoch(model, loader, optimizer, log_every)
        hits = evaluate(model, val_loader)
        if hits > most:
            most = hits
            if is_main():
                torch.save(model.module.state_dict(), "/dev/null")
        best, bad, stop = patience_left(loss, best, bad, 2)
        if stop:
            break  # expect: DST102


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
main(batches(3), batches(2), epochs=40, log_every=2)
