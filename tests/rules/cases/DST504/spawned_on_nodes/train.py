import os

import torch
import torch.multiprocessing as mp
from trainer import Trainer


def run(index, world_size):
    rank = int(os.environ["NODE_RANK"]) * torch.cuda.device_count() + index
    node_rank = int(os.environ["NODE_RANK"])
    Trainer({"rank": rank + node_rank, "world_size": world_size})


if __name__ == "__main__":
    count = torch.cuda.device_count()
    os.environ["MASTER_ADDR"] = "localhost"
    mp.spawn(run, args=(count,), nprocs=count)
