"""All ranks make it in one case only."""

import os

import torch.distributed as dist


def ensure(folder):
    if not os.path.exists(folder):
        os.makedirs(folder)  # expect: DST414
    return folder


def main(out, resume):
    dist.init_process_group("nccl")
    if resume is None:
        os.makedirs(out, exist_ok=True)
    return ensure(out)
