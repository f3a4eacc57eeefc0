import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from data import make_loaders

torch.distributed.init_process_group("nccl")


def fit(model, train_data, val_data, optimizer, epochs):
    model = DDP(model)
    loaders = make_loaders(train_data, val_data)
    for epoch in range(epochs):
        for batch in loaders["train"]:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
