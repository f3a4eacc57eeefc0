"""A loop inside has no iteration in the first one."""

import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()


def main(xs):
    n = 0
    for x in xs:
        for j in range(n):
            if rank == 0:  # expect: DST101
                dist.barrier()
        n += 1


main(open("a"))
