import torch
from torch.nn.parallel import DistributedDataParallel as DDP

import dist_utils


def main(net):
    rank = dist_utils.setup()
    torch.cuda.set_device(rank)  # expect: DST504
    return DDP(net.to(rank), device_ids=[rank])
