import torch
import torch.distributed as dist


def setup(rank, world_size):
    dist.init_process_group("nccl", init_method="env://", rank=rank, world_size=world_size)
    return torch.device(f"cuda:{dist.get_rank()}")
