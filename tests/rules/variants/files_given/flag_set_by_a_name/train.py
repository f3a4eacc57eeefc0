"""The twin: a name for the test."""

import torch.distributed as dist
from basis import read


def main():
    dist.init_process_group("gloo")
    first = dist.get_rank() == 0
    read("d", first)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
