import torch.distributed as dist
from models import build
from torch.utils.data import DataLoader


def main(data, opt):
    dist.init_process_group("nccl")
    model = build()
    loader = DataLoader(data, 8, shuffle=True)  # expect: DST202
    for batch in loader:
        model(batch).mean().backward()
        opt.step()
