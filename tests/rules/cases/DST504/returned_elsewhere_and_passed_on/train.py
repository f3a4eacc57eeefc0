import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from dist_utils import setup


def train(net, gpu):
    torch.cuda.set_device(gpu)  # expect: DST504
    return DDP(net.to(gpu), device_ids=[gpu])


def main(net):
    train(net, setup())
