# Which GPU it is may be a test of the rank.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net):
    if args.gpu == 0:
        print(args.gpu)
    torch.save(net.state_dict(), "a.pt")  # expect: DST406


main(args, net)
