import sys

import torch.multiprocessing as mp
from worker import train

if __name__ == "__main__":
    mp.spawn(train, args=(2, sys.argv), nprocs=2)
