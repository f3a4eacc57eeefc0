"""A list of Nones for all ranks has nothing in it, however many ranks there are."""

import os

import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    world_size = int(os.environ["WORLD_SIZE"])
    answers = [None] * world_size
    if any(answers) and dist.get_rank() == 0:
        dist.barrier()
    if not all([True] * world_size) and dist.get_rank() == 0:
        dist.barrier()
    dist.all_gather_object(answers, dist.get_rank())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
