import torch.distributed as dist
from launching import launch


def train(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)
    dist.destroy_process_group()


launch(train, 2)  # expect: DST516
