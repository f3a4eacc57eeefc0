import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from env import Env


def main(net):
    env = Env()
    rank = env.start()
    torch.cuda.set_device(rank)  # expect: DST504
    return DDP(net.cuda(), device_ids=[rank])
