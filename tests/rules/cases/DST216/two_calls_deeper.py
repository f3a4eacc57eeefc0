import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def gaussian(x):
    return torch.empty_like(x).normal_()


def diffused(x, level):
    eps = gaussian(x)
    return x + level * eps, eps


def loss_of(model, x, level):
    noisy, eps = diffused(x, level)
    return (model(noisy) - eps).abs().mean()


def main(net, loader, level=0.1):
    dist.init_process_group()
    torch.random.manual_seed(0)  # expect: DST216
    model = DDP(net)
    for x in loader:
        loss_of(model, x, level).backward()
