import torch.distributed as dist
from models import build, draw
from torch.utils.data import DataLoader


def main(data, opt):
    dist.init_process_group("nccl")
    model = build()
    loader = DataLoader(data, 8, sampler=draw(data))
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
