import os

import torch
import torch.distributed as dist


def setup(gpu):
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    dist.barrier()
    warm = torch.ones(1).cuda()
    torch.cuda.set_device(gpu)
    return warm


def build():
    return torch.nn.Linear(3, 3).cuda()


def main():
    setup(int(os.environ["LOCAL_RANK"]))
    dist.barrier()
    return build()


main()
