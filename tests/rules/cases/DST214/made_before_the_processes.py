import datetime
import os
import time

import torch
import torch.distributed as dist

import torch.multiprocessing as mp


def worker(rank, world, folder):
    dist.init_process_group("nccl", rank=rank, world_size=world)
    if rank == 0:
        torch.save(torch.ones(1), f"{folder}/last.pt")


def folder_of_run():
    folder = time.strftime("runs/%Y%m%d-%H%M%S")
    os.makedirs(folder, exist_ok=True)
    return folder


def main():
    world = int(os.environ.get("WORLD_SIZE", torch.cuda.device_count()))
    folder = time.strftime("runs/%Y%m%d-%H%M%S")
    os.makedirs(folder, exist_ok=True)
    mp.spawn(worker, args=(world, folder_of_run()), nprocs=world)


if __name__ == "__main__":
    main()
