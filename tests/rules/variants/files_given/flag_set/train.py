"""A flag that all ranks set."""

import torch.distributed as dist
from basis import read


def main():
    dist.init_process_group("gloo")
    read("d", savefile=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
