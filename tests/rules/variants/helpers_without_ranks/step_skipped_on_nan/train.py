import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from steps import train


def main(data):
    dist.init_process_group("nccl")
    model = DDP(torch.nn.Linear(2, 2))
    train(model, data)  # expect: DST117
