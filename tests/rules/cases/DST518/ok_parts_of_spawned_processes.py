import os

import torch.distributed as dist
import torch.multiprocessing as mp


def worker(local_rank, files, world_size):
    os.environ["LOCAL_RANK"] = str(local_rank)
    dist.init_process_group("nccl", rank=local_rank, world_size=world_size)
    return files[int(os.environ["LOCAL_RANK"]) :: dist.get_world_size()]


def main(files):
    mp.spawn(worker, args=(files, 4), nprocs=4)
