import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from dist_utils import get_rank


def main(net):
    device = torch.device("cuda", get_rank())  # expect: DST504
    return net.to(device)
