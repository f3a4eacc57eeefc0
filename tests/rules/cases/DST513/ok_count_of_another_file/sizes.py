import torch.distributed as dist


def everyone():
    return dist.get_world_size()
