import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from dist_utils import setup as start


def main(net):
    rank = start()
    torch.cuda.set_device(rank)  # expect: DST504
    return DDP(net.to(rank), device_ids=[rank])
