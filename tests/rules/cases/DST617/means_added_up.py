import torch
import torch.distributed as dist


def share(model, loader, device):
    hits = seen = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
        seen += len(y)
    value = torch.tensor(hits / seen, device=device)
    dist.all_reduce(value)  # expect: DST617
    return value.item()


def loss(model, loader, device):
    total = 0.0
    for x, y in loader:
        total += model(x, y).item()
    mean = total / len(loader)
    value = torch.tensor([mean], device=device)
    dist.all_reduce(value, op=dist.ReduceOp.SUM)  # expect: DST617
    print(f"loss {value.item():.3f}")


def in_place(model, loader, device):
    total = torch.zeros(1, device=device)
    for x, y in loader:
        total += model(x, y)
    total /= len(loader)
    dist.reduce(total, dst=0)  # expect: DST617
    return total


def add_up(tensor):
    dist.all_reduce(tensor)
    return tensor


def by_a_helper(model, loader):
    total = 0.0
    for x, y in loader:
        total += model(x, y)
    return add_up(total / len(loader))  # expect: DST617


def weighted(model, loader, device):
    total = seen = 0
    for x, y in loader:
        total += model(x, y).item() * len(y)
        seen += len(y)
    mean = total / seen
    both = torch.tensor([mean * seen, seen], device=device)
    dist.all_reduce(both)
    return both[0] / both[1]


def divided(model, loader, device, parts):
    total = 0.0
    for x, y in loader:
        total += model(x, y).item()
    value = torch.tensor(total / len(loader), device=device)
    dist.all_reduce(value)
    return value.item() / parts


def divided_by_a_method(model, loader, device, parts):
    total = torch.zeros(1, device=device)
    for x, y in loader:
        total += model(x, y)
    total = total / len(loader)
    dist.all_reduce(total)
    return total.div_(parts)


def averaged(model, loader, device):
    total = torch.zeros(1, device=device)
    for x, y in loader:
        total += model(x, y)
    total = total / len(loader)
    dist.all_reduce(total, op=dist.ReduceOp.AVG)
    return total


def left_to_the_caller(model, loader, device):
    total = torch.zeros(1, device=device)
    for x, y in loader:
        total += model(x, y)
    total = total / len(loader)
    dist.all_reduce(total)
    return total


def report(model, loader, device, parts):
    mean = left_to_the_caller(model, loader, device)
    print("mean", mean / parts)
