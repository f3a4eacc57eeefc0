import torch


def seed(number):
    torch.distributed.init_process_group("nccl")
