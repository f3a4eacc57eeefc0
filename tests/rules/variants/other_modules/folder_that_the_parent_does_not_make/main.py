import os

import torch.distributed as dist
import torch.multiprocessing as mp
from u import cache_dir


def worker(rank, config):
    dist.init_process_group("nccl", rank=rank, world_size=4)
    print(cache_dir(config.folders))


def main(config):
    os.environ["CACHE"] = cache_dir(config.others)
    mp.spawn(worker, args=(config,), nprocs=4)
