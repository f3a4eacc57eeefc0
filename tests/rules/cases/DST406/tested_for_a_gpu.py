# Whether there is a GPU is not a test of the rank.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net):
    device = f"cuda:{args.gpu}" if args.gpu >= 0 else "cpu"
    if args.gpu != -1 and torch.cuda.is_available():
        net.to(device)
    if args.gpu is not None:
        print(args.gpu)
    torch.save(net.state_dict(), "a.pt")


main(args, net)
