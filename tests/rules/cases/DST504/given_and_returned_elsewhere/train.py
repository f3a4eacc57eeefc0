import torch
from torch.nn.parallel import DistributedDataParallel as DDP

import torch.multiprocessing as mp
from dist_utils import setup


def work(rank, net):
    rank = setup(rank, 8)
    torch.cuda.set_device(rank)
    return DDP(net.to(rank), device_ids=[rank])


def main(net):
    mp.spawn(work, (net,), nprocs=8)
