import torch.distributed as dist


def ranks_of(world_size):
    return list(range(world_size))


def summed(x, group):
    dist.all_reduce(x, group=group)
