import random

import torch


def seeds(seed, epoch, rank, ids, user):
    torch.manual_seed(hash((seed, epoch, rank)) % 2**32)
    random.seed(hash((seed, epoch)))
    rows = [i for i in ids if hash(i) % 10 == 0]
    kept = [row for row in range(100) if hash(row) % 10]
    parts = [hash(int(u)) % 4 for u in user.split()]
    return rows, kept, parts
