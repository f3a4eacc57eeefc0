import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from env import Env


def main(net):
    env = Env()
    torch.cuda.set_device(env.rank)  # expect: DST504
    return DDP(net.cuda(), device_ids=[env.rank])
