"""The twin: the flag is a test of the rank."""

import torch.distributed as dist
from basis import read


def main():
    dist.init_process_group("gloo")
    read("d", savefile=dist.get_rank() == 0)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
