import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, folder):
    if rank == 0:
        os.makedirs(folder, exist_ok=True)
    for tries in range(3):
        try:
            torch.save({}, os.path.join(folder, str(rank)))
            break
        except OSError:
            time.sleep(30)
