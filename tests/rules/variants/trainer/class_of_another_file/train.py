"""A trainer of another file, trained by a function that rank 0 alone calls."""

import torch.distributed as dist
from mine import Mine


def run(given):
    print("training")
    given.train()


dist.init_process_group("nccl")
made = Mine()
if dist.get_rank() == 0:  # expect: DST101
    run(made)
