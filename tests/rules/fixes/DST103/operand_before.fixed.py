import torch
import torch.distributed as dist
from distlint.runtime import any_rank
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader):
    model = DDP(model)
    big = torch.zeros(1)
    for batch in loader:
        loss = model(batch)
        if loss > 5:
            big = loss.detach()
        if any_rank(loss > 10):
            dist.all_reduce(big)
