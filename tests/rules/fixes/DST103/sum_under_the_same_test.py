import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader):
    model = DDP(model)
    extra = 0
    for batch in loader:
        loss = model(batch)
        if loss.item() > 10:
            extra += loss.detach()
        if loss.item() > 10:
            dist.all_reduce(extra)
