import torch
import torch.distributed as dist
from accelerate import Accelerator


def both_reduced(model, loader, device):
    total, count = torch.zeros(1, device=device), torch.zeros(1, device=device)
    for x, y in loader:
        total += model(x, y)
        count += x.size(0)
    dist.all_reduce(total)
    dist.all_reduce(count)
    return total.item() / count.item()


def joined(model, loader, device):
    total, count = 0.0, 0
    for x, y in loader:
        total += model(x, y).item()
        count += 1
    both = torch.tensor([total, count], device=device)
    dist.all_reduce(both)
    total, count = both.tolist()
    return total / count


def averaged(model, loader, device):
    total, count = torch.zeros(1, device=device), 0
    for x, y in loader:
        total += model(x, y)
        count += 1
    dist.all_reduce(total, op=dist.ReduceOp.AVG)
    return total.item() / count


def by_the_world(model, loader, device):
    total = torch.zeros(1, device=device)
    for x, y in loader:
        total += model(x, y)
    dist.all_reduce(total)
    total /= len(loader)
    return total / dist.get_world_size()


def by_the_size_twice(model, loader, device, size):
    total = torch.zeros(1, device=device)
    for x, y in loader:
        total += model(x, y)
    dist.all_reduce(total)
    return total / len(loader) / size


def by_the_caller(model, loader, device):
    total = torch.zeros(1, device=device)
    for x, y in loader:
        total += model(x, y)
    dist.all_reduce(total)
    return total / len(loader)


def by_samples(model, loader, device):
    total = torch.zeros(1, device=device)
    for x, y in loader:
        total += model(x, y)
    dist.all_reduce(total)
    return total / len(loader.dataset)


def by_accelerate(accelerator: Accelerator, model, loader):
    total, count = torch.zeros(1), 0
    for x, y in loader:
        total += model(x, y)
        count += 1
    total = accelerator.reduce(total, reduction="mean")
    return total / count


def report(model, loader, device, parts):
    mean = by_the_caller(model, loader, device) / parts
    print(mean)
