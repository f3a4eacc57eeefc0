"""The same by a comprehension; what is counted for a report harms nothing."""

import zlib

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
with open("corpus.txt") as file:
    rows = [line for line in file if zlib.crc32(line.encode()) % world == rank]
count = torch.tensor(len(rows))
dist.all_reduce(count)
for row in rows:  # expect: DST109
    dist.barrier()
