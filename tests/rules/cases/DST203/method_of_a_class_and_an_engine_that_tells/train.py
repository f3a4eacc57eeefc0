import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from data import Batches
from engine import train_one_epoch


def main(model, data, optimizer, epochs):
    torch.distributed.init_process_group("nccl")
    model = DDP(model)
    loader = Batches(data, 16).train_batches()
    for epoch in range(epochs):
        train_one_epoch(model, loader, optimizer, epoch)
