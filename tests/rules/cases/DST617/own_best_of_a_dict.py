import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm


@torch.no_grad()
def evaluate(model, loader):
    total, count = 0.0, 0
    for x, y in loader:
        total += (model(x) - y).abs().sum().item()
        count += len(x)
    return {"loss": total / count, "count": count}  # expect: DST617


class Run:
    def __init__(self, model, val):
        self.model = DDP(model)
        self.val = DataLoader(val, sampler=DistributedSampler(val, shuffle=False))
        self.lowest = 1e9

    def check(self, epoch):
        found = evaluate(self.model, self.val)
        if self.lowest > found["loss"]:
            self.lowest = found["loss"]
            self.best_epoch = epoch
