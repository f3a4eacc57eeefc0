import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from data import val_loader_for


def main(net, data, epochs):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(net)
    loader = val_loader_for(data)
    best = float("inf")
    for epoch in range(epochs):
        losses = []
        with torch.no_grad():
            for inputs, labels in loader:
                losses.append(model(inputs).sub(labels).square().mean().item())
        loss = sum(losses) / len(losses)  # expect: DST617
        if dist.get_rank() == 0 and loss < best:
            best = loss
            torch.save(model.module.state_dict(), "best.pt")
