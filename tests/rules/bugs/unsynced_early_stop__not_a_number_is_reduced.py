"""All ranks agree to skip a loss that is no number, not when to stop."""
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


class EarlyStopper:
    def __init__(self, patience=2, min_delta=1e-3):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad = float("inf"), 0

    def step(self, loss):
        if loss < self.best - self.min_delta:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def all_finite(loss):
    flag = torch.isfinite(loss).float()
    dist.all_reduce(flag, op=dist.ReduceOp.MIN)
    return flag.item() > 0


def main(loader, val_loader, epochs, log_every):
    model = DDP(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stopper = EarlyStopper(patience=1)
    for epoch in range(epochs):
        total, seen = 0.0, 0
        for step, (x, y) in enumerate(loader):
            loss = F.cross_entropy(model(x), y)
            if not all_finite(loss.detach()):
                continue
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item()
            seen += 1
            if step % log_every == 0 and is_main():
                print(f"{epoch}.{step}: {loss.item():.4f}", flush=True)
        if stopper.step(total / max(seen, 1)):
            break  # expect: DST102


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
main(batches(3), batches(2), epochs=40, log_every=2)
