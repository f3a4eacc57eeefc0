"""The optimizer of the file belongs to another function."""

import torch


def peak_memory(model, x):
    torch.cuda.reset_peak_memory_stats()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(x).sum()
    loss.backward()
    return torch.cuda.max_memory_allocated()


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()


class Probe:
    def sensitivity(self, x):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = self.model(x).sum()
        loss.backward()
        return [p.grad.norm() for p in self.model.parameters()]


def profiled(model, loader, profiler):
    for x in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(x).sum()
        loss.backward()
        profiler.step()


def main(model, loader, optimizer):
    train(model, loader, optimizer)
    print(peak_memory(model, next(iter(loader))))
