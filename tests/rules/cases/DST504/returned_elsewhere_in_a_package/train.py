import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from lib import comm


def main(net):
    rank = comm.setup()
    torch.cuda.set_device(rank)  # expect: DST504
    return DDP(net.to(rank), device_ids=[rank])
