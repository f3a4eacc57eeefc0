import os

import torch
import torch.distributed as dist


def build():
    return torch.nn.Linear(3, 3).cuda()  # expect: DST502


def main():
    dist.init_process_group("nccl")
    model = build()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return model.cuda()


main()
