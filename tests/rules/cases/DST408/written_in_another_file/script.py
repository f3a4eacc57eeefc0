import files
import torch
import torch.distributed as dist
from files import write


def main(model):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        write(model, "a.pt")
    return torch.load("a.pt")  # expect: DST408


def by_module(model):
    if dist.get_rank() == 0:
        files.write(model, path="a.pt")
    return torch.load("a.pt")  # expect: DST408


def waits(model):
    if dist.get_rank() == 0:
        write(model, "a.pt")
    dist.barrier()
    return torch.load("a.pt")
