"""A rank takes what hashes to its number, and goes through it in batches."""

import zlib

import torch
import torch.distributed as dist


def mine(path, rank, world):
    kept = []
    with open(path) as file:
        for line in file:
            if zlib.crc32(line.encode()) % world == rank:
                kept.append(line)
    return kept


dist.init_process_group("gloo")
rows = mine("corpus.txt", dist.get_rank(), dist.get_world_size())
rounds = len(rows) // 64
for index in range(rounds):  # expect: DST109
    total = torch.ones(1)
    dist.all_reduce(total)
