"""The twin: it makes the folder only afterwards."""

import os

import torch.distributed as dist


def open_log(folder):
    if not os.path.exists(folder):
        os.makedirs(folder)  # expect: DST414
    return os.path.join(folder, "log.txt")


def main(folder):
    dist.init_process_group("nccl")
    path = open_log(folder)
    if dist.get_rank() == 0:
        os.makedirs(folder, exist_ok=True)
    dist.barrier()
    return path
