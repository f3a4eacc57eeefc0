"""A moving average of the local loss decides, in a loop over steps with reductions."""
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


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value):
        self.total += value
        self.count += 1

    def average(self):
        pair = torch.tensor([self.total, float(self.count)])
        dist.all_reduce(pair)
        return (pair[0] / pair[1]).item()


def main(loader, val_loader, epochs, log_every):
    model = DDP(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    meter = Meter()
    ema, best, bad = None, float("inf"), 0
    for epoch in range(epochs):
        for step, (x, y) in enumerate(loader):
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter.update(loss.item())
            ema = loss.item() if ema is None else 0.9 * ema + 0.1 * loss.item()
            if step % log_every == 0 and is_main():
                print(f"{epoch}.{step}", flush=True)
        shown = meter.average()
        if is_main():
            print(f"average {shown:.4f}", flush=True)
        bad = 0 if ema < best else bad + 1
        best = min(best, ema)
        if bad > 1:
            break  # expect: DST102


dist.init_process_group("gloo")
torch.manual_seed(11 + 3 * dist.get_rank())
main(batches(3), batches(2), epochs=40, log_every=2)
