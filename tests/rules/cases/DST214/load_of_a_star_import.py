import time

import torch
import torch.distributed as dist
from utils import *


def main(model):
    dist.init_process_group("nccl")
    path = f"model-{time.time()}.pth"
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    load(path)
