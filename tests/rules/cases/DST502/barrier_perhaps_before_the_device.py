import os

import torch
import torch.distributed as dist

LATE = "LATE" in os.environ


def setup(gpu):
    if not LATE:
        torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    dist.barrier()


def finish():
    if LATE:
        return
    dist.barrier()


def main():
    gpu = int(os.environ["LOCAL_RANK"])
    setup(gpu)
    finish()
    torch.cuda.set_device(gpu)


main()
