import os

import torch
import torch.distributed as dist

import torch.multiprocessing as mp


def worker(local_rank, url, world, n, node):
    dist.init_process_group("NCCL", init_method=url, world_size=world, rank=node * n + local_rank)
    dist.barrier()  # expect: DST502
    torch.cuda.set_device(local_rank)


mp.spawn(worker, args=("tcp://10.0.0.1:2345", 8, 8, 0), nprocs=8)
