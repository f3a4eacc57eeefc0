"""The only caller has made the folder on rank 0, before the ranks met."""

import os

import torch.distributed as dist


def open_log(folder):
    if not os.path.exists(folder):
        os.makedirs(folder)
    return os.path.join(folder, "log.txt")


def main(folder):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        os.makedirs(folder, exist_ok=True)
    dist.barrier()
    return open_log(folder)
