import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader):
    model = DDP(model)
    sums = [0, 0]
    for batch in loader:
        loss = model(batch)
        if loss.item() > 10:
            sums[0] += loss.detach()
        if loss.item() > 10:
            for number in range(2):
                dist.all_reduce(sums[number])
