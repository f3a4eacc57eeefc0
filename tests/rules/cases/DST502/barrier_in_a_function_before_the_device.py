import os

import torch
import torch.distributed as dist


def setup():
    dist.init_process_group("nccl")
    dist.barrier()  # expect: DST502


class Trainer:
    def __init__(self, gpu):
        torch.cuda.set_device(gpu)
        dist.barrier()


def main():
    setup()
    names = [None] * dist.get_world_size()
    dist.all_gather_object(names, os.uname().nodename)  # expect: DST502
    Trainer(int(os.environ["LOCAL_RANK"]))


if __name__ == "__main__":
    main()
