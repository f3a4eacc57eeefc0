import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from dist_utils import setup


def main(net):
    rank = setup()
    torch.cuda.set_device(rank)
    return DDP(net.to(rank), device_ids=[rank])
