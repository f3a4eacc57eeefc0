import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm


class EarlyStopping:
    def __init__(self):
        self.best, self.count, self.stop = None, 0, False

    def __call__(self, loss):
        if self.best is None:
            self.best = loss
        elif loss > self.best:
            self.count += 1
            self.stop = self.count > 3
        else:
            self.best = loss
            self.count = 0


def main(model, val, epochs, train):
    model = DDP(model)
    val_loader = DataLoader(val, batch_size=4, sampler=DistributedSampler(val))
    stopping = EarlyStopping()
    for epoch in range(epochs):
        train(model)
        total = 0.0
        for x, y in val_loader:
            total += (model(x) - y).abs().mean().item()
        loss = total / len(val_loader)  # expect: DST617
        stopping(loss)
        if stopping.stop:
            break
