import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def percent(model, loader):
    hits = seen = 0
    with torch.no_grad():
        for images, labels in loader:
            hits += (model(images).argmax(1) == labels).sum()
            seen += labels.size(0)
    return 100.0 * hits.item() / seen  # expect: DST617


def percent_after(model, loader):
    hits = seen = 0
    with torch.no_grad():
        for images, labels in loader:
            hits += (model(images).argmax(1) == labels).sum().item()
            seen += labels.size(0)
    return hits * 100 / seen  # expect: DST617


def percent_of_all(model, loader):
    counts = torch.zeros(2).cuda()
    with torch.no_grad():
        for images, labels in loader:
            counts[0] += (model(images).argmax(1) == labels).sum()
            counts[1] += labels.size(0)
    dist.all_reduce(counts)
    hits, seen = counts.tolist()
    return 100.0 * hits / seen


def main(model, data, test_data):
    model = DDP(model)
    loader = DataLoader(test_data, 8, sampler=DistributedSampler(test_data, shuffle=False))
    best = 0
    for epoch in range(3):
        score, other = percent(model, loader), percent_of_all(model, loader)
        third = percent_after(model, loader)
        if dist.get_rank() == 0:
            print(score, other, third)


def other(model, test_data):
    loader = DataLoader(test_data, 8, sampler=DistributedSampler(test_data, shuffle=False))
    first = percent(model, loader)
    second = percent_after(model, loader)
    third = percent_of_all(model, loader)
    if dist.get_rank() == 0:
        print(first, second, third)
