"""The best loss of this rank is None before the first of 40 epochs."""
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


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    total, counts = 0.0, torch.zeros(2)
    for x, y in loader:
        logits = model(x)
        total += F.cross_entropy(logits, y).item()
        counts += torch.tensor([(logits.argmax(1) == y).float().sum(), float(len(y))])
    dist.all_reduce(counts)
    model.train()
    return total, (counts[0] / counts[1]).item()


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
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    best, bad = None, 0
    for _ in range(epochs):
        train_one_epoch(model, loader, optimizer, log_every)
        loss, accuracy = evaluate(model, val_loader)
        if is_main():
            print(f"accuracy {accuracy:.3f}", flush=True)
        if best is None or loss < best:
            best, bad = loss, 0
        else:
            bad += 1
            if bad > 1:
                break  # expect: DST102


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
main(batches(3), batches(2), epochs=40, log_every=2)
