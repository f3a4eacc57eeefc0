"""Rank 0 alone evaluates, with a cache that all ranks were to wait for."""
# effect: hang

import torch
import torch.distributed as dist


def cached_examples(rank):
    if rank not in [-1, 0]:
        dist.barrier()
    examples = torch.ones(4)
    if rank == 0:  # expect: DST101
        dist.barrier()
    return examples


def evaluate(rank):
    return cached_examples(rank).mean().item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    cached_examples(rank)
    if rank in [-1, 0]:
        print("result", evaluate(rank))
    total = torch.ones(1)
    dist.all_reduce(total)


if __name__ == "__main__":
    main()
