"""T1. Split barrier: each rank reaches exactly one of the two halves."""

import os
import tempfile

import torch
import torch.distributed as dist


def build_cache(path):
    if os.path.exists(path):
        return torch.load(path)
    data = torch.arange(10)
    torch.save(data, path)
    return data


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    folder = [tempfile.mkdtemp()]
    dist.broadcast_object_list(folder, src=0)
    path = os.path.join(folder[0], "cache.pt")

    if rank != 0:
        dist.barrier()
    data = build_cache(path)
    if rank == 0:
        dist.barrier()

    total = data.sum()
    dist.all_reduce(total)
    print("total =", total.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
