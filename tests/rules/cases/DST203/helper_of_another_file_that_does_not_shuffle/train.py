import torch
from torch.nn.parallel import DistributedDataParallel

from data import build_loader


def main(data, net, epochs):
    torch.distributed.init_process_group("nccl")
    model = DistributedDataParallel(net)
    optimizer = torch.optim.AdamW(model.parameters())
    loader = build_loader(data, 32)
    for epoch in range(epochs):
        for inputs, labels in loader:
            optimizer.zero_grad()
            model(inputs).sub(labels).square().mean().backward()
            optimizer.step()
