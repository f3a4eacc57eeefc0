"""The twin: it has made another one."""

import os

import torch.distributed as dist


def open_log(folder):
    if not os.path.exists(folder):
        os.makedirs(folder)  # expect: DST414
    return os.path.join(folder, "log.txt")


def main(folder, other):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        os.makedirs(other, exist_ok=True)
    dist.barrier()
    return open_log(folder)
