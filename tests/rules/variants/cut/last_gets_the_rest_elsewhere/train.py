import torch
import torch.distributed as dist
from data import Lines, Pages, part
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


def main(pages):
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DDP(torch.nn.Linear(3, 1))
    for page in part(pages, rank, world):  # expect: DST113
        model(page).mean().backward()
    loader = DataLoader(Pages(pages, rank, world), batch_size=8, shuffle=True)
    for batch in loader:  # expect: DST113
        model(batch).mean().backward()


def lines(lines):
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DDP(torch.nn.Linear(3, 1))
    loader = DataLoader(Lines(lines, rank, world), batch_size=8, shuffle=True)
    for batch in loader:  # expect: DST113
        model(batch).mean().backward()
