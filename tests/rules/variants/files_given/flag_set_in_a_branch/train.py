"""The twin: the one call that sets the flag is for the first rank."""

import torch.distributed as dist
from basis import read


def main():
    dist.init_process_group("gloo")
    if dist.get_rank() == 0:
        read("d", savefile=True)
    dist.barrier()
    read("d")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
