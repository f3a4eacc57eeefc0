import os

import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    os.environ["MASTER_ADDR"] = "localhost"  # expect: DST508
    dist.barrier()


def start(world):
    dist.init_process_group("gloo")
    os.environ["MASTER_ADDR"] = "localhost"
    mp.spawn(worker, args=(world,), nprocs=world)
