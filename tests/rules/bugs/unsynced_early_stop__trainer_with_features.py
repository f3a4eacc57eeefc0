"""A trainer keeps the counter in an attribute, amid all that trainers do."""
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


class Trainer:
    def __init__(self, epochs, patience, log_every):
        self.model = DDP(Net())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.5)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 5)
        self.epochs, self.patience, self.log_every = epochs, patience, log_every
        self.best, self.bad, self.global_step = float("inf"), 0, 0

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for step, (x, y) in enumerate(loader):
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            if (step + 1) % 2 == 0:
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
            total += loss.item()
            self.global_step += 1
            if self.global_step % self.log_every == 0:
                self.log("loss", loss.item())
        return total

    def log(self, name, value):
        if is_main():
            print(f"{self.global_step} {name} {value:.4f}", flush=True)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        total, count = 0.0, torch.zeros(1)
        for x, y in loader:
            total += F.cross_entropy(self.model(x), y).item()
            count += len(y)
        dist.all_reduce(count)
        self.log("examples", count.item())
        return total

    def fit(self, loader, val_loader):
        for _ in range(self.epochs):
            self.train_epoch(loader)
            loss = self.evaluate(val_loader)
            self.scheduler.step()
            if loss < self.best:
                self.best, self.bad = loss, 0
                if is_main():
                    torch.save(self.model.module.state_dict(), "/dev/null")
            else:
                self.bad += 1
                if self.bad >= self.patience:
                    return  # expect: DST102
            dist.barrier()


def main(loader, val_loader, epochs, log_every):
    Trainer(epochs, 2, log_every).fit(loader, val_loader)


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
main(batches(3), batches(2), epochs=40, log_every=2)
