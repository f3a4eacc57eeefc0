from dataclasses import dataclass
from types import SimpleNamespace

import torch
import torch.distributed as dist


@dataclass
class Options:
    device: str = "cpu"


def place(sizes):
    sizes.length = sizes.length.cuda()


def place_all(totals):
    for name in totals:
        totals[name] = totals[name].cuda()


def main(tokens):
    dist.init_process_group("nccl")
    sizes = SimpleNamespace()
    sizes.length = torch.tensor([len(tokens)])
    place(sizes)
    dist.broadcast(sizes.length, src=0)
    totals = {}
    totals["steps"] = torch.zeros(1)
    place_all(totals)
    dist.all_reduce(totals["steps"])
    count = torch.zeros(1)
    count = count.to("cuda")
    count += 1
    dist.all_reduce(count)
    options = Options(device="cuda")
    given = torch.zeros(1, device=options.device)
    dist.all_reduce(given)
