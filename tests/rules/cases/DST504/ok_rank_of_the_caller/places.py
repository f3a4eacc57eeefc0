import torch
import torch.distributed as dist


def place(number):
    torch.cuda.set_device(number)
    dist.barrier()
