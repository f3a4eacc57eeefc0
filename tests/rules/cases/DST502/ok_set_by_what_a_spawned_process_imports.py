import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

torch.cuda.set_device(int(os.environ.get("SLURM_LOCALID", 0)))


def worker(rank, world):
    dist.init_process_group("nccl", rank=rank, world_size=world)
    dist.all_reduce(torch.ones(1, device="cuda"))


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
