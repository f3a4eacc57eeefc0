import datetime
import os
import time

import torch
import torch.distributed as dist


def main(model):
    dist.init_process_group("nccl")
    path = f"model-{dist.get_rank()}-{time.time()}.pth"
    torch.save(model.state_dict(), path)
    dist.barrier()
    torch.load(path)


def of_first_rank(model):
    dist.init_process_group("nccl")
    path = f"model-{time.time()}.pth"
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
        torch.load(path)
    dist.barrier()
    if dist.get_rank() == 0:
        torch.load(path)


def if_there(model):
    dist.init_process_group("nccl")
    path = f"model-{time.time()}.pth"
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    if os.path.exists(path):
        torch.load(path)


def another(model, other):
    dist.init_process_group("nccl")
    path = f"model-{time.time()}.pth"
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    torch.load(f"{other}-{datetime.date.today()}.pth")
