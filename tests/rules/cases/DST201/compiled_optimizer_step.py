import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


def main(data, model, batch_size):
    dist.init_process_group("nccl")
    loader = DataLoader(data, batch_size=batch_size, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters())
    step = torch.compile(optimizer.step, mode="reduce-overhead")
    for ids in loader:
        model(ids).mean().backward()
        step()
