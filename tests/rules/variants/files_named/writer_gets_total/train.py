"""The twin: the number is the same on all ranks."""

import torch.distributed as dist
from writing import write


def main(model, loader, folder):
    dist.init_process_group("nccl")
    total = 0
    for batch in loader:
        for i, sample in enumerate(model(batch)):
            write(sample, folder, i + total)
        total += len(batch) * dist.get_world_size()
