import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from dist_utils import setup


def main(net):
    rank = setup()
    return net.to(f"cuda:{rank}")  # expect: DST504
