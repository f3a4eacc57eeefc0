"""What the world size must not be is tested before: the ranks still part behind it."""
# effect: hang

import os

import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    world_size = int(os.environ["WORLD_SIZE"])
    if world_size % 2:
        raise ValueError("an even number of ranks")
    if dist.get_rank() == 0:  # expect: DST101
        dist.barrier()


if __name__ == "__main__":
    main()
