import torch.distributed as dist


def average(value):
    value = value.detach().clone()
    dist.all_reduce(value)
    return value / dist.get_world_size()
