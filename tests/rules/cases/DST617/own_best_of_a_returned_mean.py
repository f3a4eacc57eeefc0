import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm


def evaluate(model, loader):
    total, seen = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            total += (model(x) - y).abs().sum().item()
            seen += len(x)
    return total / seen  # expect: DST617


def main(model, val, epochs, train):
    model = DDP(model)
    loader = DataLoader(val, batch_size=4, sampler=DistributedSampler(val))
    best, patience = 1e9, 0
    for epoch in range(epochs):
        train(model)
        error = evaluate(model, loader)
        if error < best:
            best = error
            patience = 0
        else:
            patience += 1
            if patience > 3:
                break
