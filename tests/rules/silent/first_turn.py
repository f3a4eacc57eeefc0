"""The number of a loop's first turn is known, and that of a later one is not 0 again."""

import argparse
import sys

import torch
import torch.distributed as dist


def warm_up(batches, total):
    for number, _ in enumerate(batches):
        if number > 0:
            return True
        dist.broadcast(total, 0)
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", nargs="*", default=["a", "b"])
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    total = torch.ones(1)
    if not warm_up(args.batches, total):
        assert warm_up(args.batches, total)  # there are as many as before
        if rank == 0:
            dist.all_reduce(total)
    for step in range(args.rounds):
        if dist.get_world_size() > 1 and step % 2 == 0:
            sys.exit(0)
        if rank == 0:
            dist.all_reduce(total)


main()
