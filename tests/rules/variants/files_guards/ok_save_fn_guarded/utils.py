import torch
import torch.distributed as dist


def is_main():
    return dist.get_rank() == 0


def save_on_master(*args, **kwargs):
    if is_main():
        torch.save(*args, **kwargs)
