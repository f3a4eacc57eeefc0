import torch.distributed as dist
from helpers import ranks_of, summed


def by_a_function(batches):
    for x in batches:
        group = dist.new_group([0, 1])  # expect: DST120
        summed(x, group)


def in_an_attribute(batches, parts):
    for x in batches:
        ranks = ranks_of(dist.get_world_size())
        parts.group = dist.new_group(ranks)  # expect: DST120
        dist.all_reduce(x, group=parts.group)
