import os

import torch
import torch.distributed as dist
from files import Weights
from loop import fit


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    fit(model, Weights("last.pt"))
