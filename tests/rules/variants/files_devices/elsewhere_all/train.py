"""The twin: all processes see the same."""

import os

import torch
import torch.distributed as dist
from restoring import Trainer


def main(rank, gpus):
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
    dist.init_process_group("nccl", rank=rank, world_size=2)
    Trainer(torch.nn.Linear(2, 2), "cuda")


if __name__ == "__main__":
    torch.multiprocessing.spawn(main, args=([2, 3],), nprocs=2)
