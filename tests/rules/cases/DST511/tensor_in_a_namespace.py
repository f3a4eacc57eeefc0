from types import SimpleNamespace

import torch
import torch.distributed as dist


def main(tokens):
    dist.init_process_group("nccl")
    sizes = SimpleNamespace()
    sizes.length = torch.tensor([len(tokens)])
    dist.broadcast(sizes.length, src=0)  # expect: DST511
    totals = {}
    totals["steps"] = torch.zeros(1)
    totals["steps"] += 1
    dist.all_reduce(totals["steps"])  # expect: DST511
    count = torch.zeros(1)
    for _ in tokens:
        count += 1
    dist.all_reduce(count)  # expect: DST511
