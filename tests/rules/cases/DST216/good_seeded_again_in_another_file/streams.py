import torch
import torch.distributed as dist


def start(seed):
    torch.manual_seed(seed + dist.get_rank())
