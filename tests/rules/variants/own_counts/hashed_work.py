"""Each rank works on what hashes to it, and they meet after it."""

import zlib

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
total = torch.zeros(1)
with open("corpus.txt") as file:
    for line in file:
        if zlib.crc32(line.encode()) % world != rank:
            continue
        total += len(line)
dist.all_reduce(total)
