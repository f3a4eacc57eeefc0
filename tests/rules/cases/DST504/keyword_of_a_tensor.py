import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def flag():
    return torch.zeros(1, device=dist.get_rank())  # expect: DST504


def copy(tensor):
    return tensor.new_zeros(1, device=f"cuda:{dist.get_rank()}")  # expect: DST504


def agree(model):
    return model.to("cpu" if model.small else dist.get_rank())  # expect: DST504
