import torch.distributed as dist


def setup(rank, world):
    dist.init_process_group("nccl", rank=rank, world_size=world)
    return dist.get_rank()
