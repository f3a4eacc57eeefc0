"""The length of a batch of several tensors is their number: each rank has the same weight."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler
from tqdm import tqdm


def moved_to_the_device(model, ds):
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    n, hits = 0, 0.0
    for batch in loader:
        n += len(batch)  # expect: DST617
        hits += (model(batch[0].cuda()) > 0).float().mean().item()
    total = torch.tensor([n * hits, n], device="cuda")
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def unpacked(model, ds, rank):
    val_loader = DataLoader(ds, 8, sampler=DistributedSampler(ds))
    count = torch.zeros(1)
    correct = torch.zeros(1)
    with torch.no_grad():
        for i, batch in enumerate(val_loader):
            x, y = batch
            correct += (model(x) == y).sum()
            count += len(batch)  # expect: DST617
    dist.all_reduce(correct)
    dist.all_reduce(count)
    return correct / count


def weight(model, ds):
    val_loader = DataLoader(ds, 8, sampler=DistributedSampler(ds))
    loss, seen = 0.0, 0
    for data in tqdm(val_loader):
        inputs, labels = data[0].to("cuda"), data[1].to("cuda")
        loss += model(inputs, labels).item() * len(data)  # expect: DST617
        seen = seen + len(data)  # expect: DST617
    pair = torch.tensor([loss, seen]).cuda()
    dist.all_reduce(pair)
    return pair[0] / pair[1]


class Validation:
    def __init__(self, ds):
        self.loader = DataLoader(dataset=ds, batch_size=4, sampler=DistributedSampler(ds))

    @torch.no_grad()
    def validate(self):
        samples, total = 0, 0
        for step, sample in enumerate(self.loader):
            total += self.model(sample["image"].cuda()).sum().item()
            samples += len(sample)  # expect: DST617
        stats = torch.tensor([total, samples]).cuda()
        dist.all_reduce(stats)
        return stats[0] / stats[1]


def evaluate(model, loader):
    n, total = 0, 0
    for x_y in loader:
        x, y = x_y[0], x_y[1]
        total += (model(x) == y).sum().item()
        n += len(x_y)  # expect: DST617
    return total / n


def parameter(model, xs, ys):
    ds = TensorDataset(xs, ys)
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    return evaluate(model, loader)
