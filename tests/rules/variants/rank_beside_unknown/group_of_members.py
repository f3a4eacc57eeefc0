"""Members alone create their group."""

import torch
import torch.distributed as dist


def groups(world, k):
    rank, mine = dist.get_rank(), None
    for s in range(0, world, k):
        ranks = list(range(s, s + k))
        if rank in ranks:  # expect: DST114
            mine = dist.new_group(ranks)
    return mine
