import os

import torch
import torch.multiprocessing as mp
from trainer import Trainer


def run(rank, world_size):
    Trainer({"rank": rank, "world_size": world_size})


if __name__ == "__main__":
    count = torch.cuda.device_count()
    os.environ["MASTER_ADDR"] = "localhost"
    mp.spawn(run, args=(count,), nprocs=count)
