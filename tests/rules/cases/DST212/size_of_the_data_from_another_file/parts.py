import torch
import torch.distributed as dist


def drawn(count, keep):
    dist.init_process_group("nccl")
    order = torch.randperm(count)  # expect: DST212
    return order[:keep], order[keep:]
