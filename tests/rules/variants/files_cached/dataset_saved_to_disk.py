"""A prepared data set is saved by rank 0 and loaded by all."""

import os

import torch.distributed as dist
from datasets import load_dataset, load_from_disk

dist.init_process_group("gloo")
rank = dist.get_rank()
cache = "prepared"
if rank == 0:
    if not os.path.isdir(cache):
        load_dataset("imdb").map(len).save_to_disk(cache)
data = load_from_disk(cache)  # expect: DST408
dist.barrier()
