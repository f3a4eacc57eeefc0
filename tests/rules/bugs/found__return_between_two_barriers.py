"""Rank 0 returns between the barrier that holds the others and its half of the pair."""
# effect: hang

import sys

import torch
import torch.distributed as dist

KNOWN = {"ones": torch.ones(4), "zeros": torch.zeros(4)}


def prepared(name):
    if dist.get_rank() != 0:  # expect: DST101
        dist.barrier()
    data = KNOWN.get(name)
    if data is None:
        return None
    if dist.get_rank() == 0:
        dist.barrier()
    return data


def main(name):
    dist.init_process_group("gloo")
    data = prepared(name)
    total = torch.zeros(1) if data is None else data.sum().reshape(1)
    dist.all_reduce(total)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "twos")
