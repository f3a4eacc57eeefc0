import torch
import torch.distributed as dist


def in_group():
    return dist.is_available() and dist.is_initialized()


def rank():
    return dist.get_rank() if in_group() else 0


def join():
    dist.init_process_group("nccl")


def start(seed):
    join()
    torch.manual_seed(seed)


torch.manual_seed(42 + rank())  # expect: DST512
start(1)
