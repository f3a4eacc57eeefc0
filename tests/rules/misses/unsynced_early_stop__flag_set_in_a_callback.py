"""A callback sets a flag by the local loss, which the loop reads later."""
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


class Callback:
    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.wait = 0
        self.stop_training = False

    def on_epoch_end(self, logs):
        if logs["loss"] < self.best:
            self.best = logs["loss"]
            self.wait = 0
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stop_training = True


def gradient_norm(model):
    total = torch.zeros(1)
    for parameter in model.parameters():
        total += parameter.detach().pow(2).sum()
    dist.all_reduce(total, op=dist.ReduceOp.MAX)
    return total.sqrt().item()


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
    callback = Callback(patience=2)
    for epoch in range(epochs):
        loss = train_one_epoch(model, loader, optimizer, log_every)
        callback.on_epoch_end({"loss": loss, "epoch": epoch})
        norm = gradient_norm(model)
        if is_main():
            print(f"norm {norm:.3f}", flush=True)
        if callback.stop_training:
            break  # expect: DST102
        dist.barrier()


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
main(batches(3), batches(2), epochs=40, log_every=2)
