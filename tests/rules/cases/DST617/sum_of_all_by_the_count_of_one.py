import torch
import torch.distributed as dist
from accelerate import Accelerator


def by_a_counter(model, loader, device):
    total, count = torch.zeros(1, device=device), 0
    for x, y in loader:
        total += model(x, y)
        count += x.size(0)
    dist.all_reduce(total)
    return total.item() / count  # expect: DST617


def by_the_length(model, loader, device):
    total = 0.0
    for x, y in loader:
        total += model(x, y).item()
    shared = torch.tensor(total, device=device)
    dist.all_reduce(shared, op=dist.ReduceOp.SUM)
    mean = shared.item() / len(loader)  # expect: DST617
    return mean


def in_place(model, loader, device):
    total = torch.zeros((), device=device)
    for step, (x, y) in enumerate(loader):
        total += model(x, y)
    dist.reduce(total, dst=0)
    total /= len(loader)  # expect: DST617
    return total


def in_percent(model, loader, device):
    hits = torch.zeros((), device=device)
    seen = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum()
        seen += len(y)
    dist.all_reduce(hits)
    print("accuracy", 100.0 * hits.item() / seen)  # expect: DST617


def by_accelerate(accelerator: Accelerator, model, loader):
    hits, seen = torch.zeros(()), 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum()
        seen += len(y)
    hits = accelerator.reduce(hits, reduction="sum")
    return hits / seen  # expect: DST617


def add_up(value, device):
    tensor = torch.tensor(value, device=device)
    dist.all_reduce(tensor)
    return tensor.item()


def by_a_helper(model, loader, device):
    total, count = 0.0, 0
    for x, y in loader:
        total += model(x, y).item()
        count += 1
    total = add_up(total, device)
    return total / count  # expect: DST617


class Tester:
    def run(self, loader):
        self.total = torch.zeros(1, device=self.device)
        self.count = 0
        with torch.no_grad():
            for x, y in loader:
                self.total += self.model(x, y)
                self.count += len(y)
        dist.all_reduce(self.total)
        self.mean = (self.total / self.count).item()  # expect: DST617
