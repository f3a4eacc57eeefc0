import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from setup_run import set_up


def main(args, net, loader):
    set_up(args)
    model = DDP(net)
    for x in loader:
        noise = torch.randn_like(x)
        (model(x + noise) - noise).square().mean().backward()
