"""Rank 0 reads first; then all set the flag."""

import torch.distributed as dist
from basis import read


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        read("d")
    dist.barrier()
    read("d", True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
