import sys

import torch.multiprocessing as mp
from worker import train


def run(rank, world_size, args):
    train(rank, world_size, args)


if __name__ == "__main__":
    mp.spawn(run, args=(2, sys.argv), nprocs=2)
