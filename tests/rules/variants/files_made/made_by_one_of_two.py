"""One caller of two has made it."""

import os

import torch.distributed as dist


def ensure(folder):
    if not os.path.exists(folder):
        os.makedirs(folder)  # expect: DST414
    return folder


def main(first, second):
    dist.init_process_group("nccl")
    os.makedirs(first, exist_ok=True)
    return ensure(first), ensure(second)
