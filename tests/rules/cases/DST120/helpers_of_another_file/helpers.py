import torch.distributed as dist


def node_groups(size):
    world = dist.get_world_size()
    starts = range(0, world, size)
    return [dist.new_group(list(range(a, a + size))) for a in starts]  # expect: DST120


def node_mean(value, rank, size):
    group = node_groups(size)[rank // size]
    dist.all_reduce(value, group=group)
    return value / size


class Mesh:
    def __init__(self, size):
        self.groups = all_groups(size)

    def mean(self, value):
        dist.all_reduce(value, group=self.groups[0])


def all_groups(size):
    return [dist.new_group(list(range(a, a + size))) for a in range(0, 8, size)]
