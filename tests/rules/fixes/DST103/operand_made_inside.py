import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader):
    model = DDP(model)
    for batch in loader:
        loss = model(batch)
        if loss > 10:
            print("big")
        if loss > 10:
            big = loss.detach()
            dist.all_reduce(big)
