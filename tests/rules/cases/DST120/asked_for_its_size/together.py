import torch.distributed as dist


def from_all(value):
    group = dist.new_group(backend="gloo")  # expect: DST120
    values = [None] * dist.get_world_size(group)
    dist.all_gather_object(values, value, group=group)
    return values
