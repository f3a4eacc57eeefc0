import torch
import torch.distributed as dist


def restore():
    dist.init_process_group("nccl")
    return torch.device("cuda", dist.get_rank())
