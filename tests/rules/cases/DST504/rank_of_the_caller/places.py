import torch
import torch.distributed as dist


def place(number):
    torch.cuda.set_device(number)  # expect: DST504
    dist.barrier()
