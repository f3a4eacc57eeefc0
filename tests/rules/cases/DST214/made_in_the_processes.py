import datetime
import os
import time

import torch
import torch.distributed as dist

import torch.multiprocessing as mp


def worker(rank, world):
    dist.init_process_group("nccl", rank=rank, world_size=world)
    folder = time.strftime("runs/%Y%m%d-%H%M%S")
    os.makedirs(folder, exist_ok=True)  # expect: DST214
    log(folder)


def log(folder):
    os.makedirs(f"{folder}/{time.time()}", exist_ok=True)  # expect: DST214


if __name__ == "__main__":
    mp.spawn(worker, args=(8,), nprocs=8)
