import os

import torch
import torch.distributed as dist


def made(folder="out"):
    if not os.path.exists(folder):
        os.makedirs(folder)  # expect: DST414


def main():
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        made()
    made()


main()
