import torch
import torch.multiprocessing as mp
from setup import setup

if __name__ == "__main__":
    mp.spawn(lambda rank, count: setup(rank, count), args=(4,), nprocs=4)
