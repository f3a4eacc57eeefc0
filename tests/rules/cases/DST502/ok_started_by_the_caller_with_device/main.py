import sys

import torch
import torch.multiprocessing as mp
from worker import train


def run(rank, world_size, args):
    torch.cuda.set_device(rank)
    train(rank, world_size, args)


if __name__ == "__main__":
    mp.spawn(run, args=(2, sys.argv), nprocs=2)
