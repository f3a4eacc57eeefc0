"""A number that a function makes of what the loop counts decides in the second iteration."""

import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()


def work(n):
    k = n - 1
    if k >= 0:
        if rank == 0:  # expect: DST101
            dist.barrier()


def main(xs):
    n = 0
    for x in xs:
        work(n)
        n += 1


main(open("a"))
