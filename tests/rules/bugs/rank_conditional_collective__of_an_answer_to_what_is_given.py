"""The answer rests on what the function is given, through a list and a variable."""
# effect: hang

import random

import torch
import torch.distributed as dist


def is_high(step, noise):
    history = [noise]
    last = history[-1]
    return last > 0.5 and step % 10 == 0


def main():
    dist.init_process_group("gloo")
    random.seed(dist.get_rank())
    total = torch.zeros(1)
    for step in range(100):
        if is_high(step, noise=random.random()):  # expect: DST103
            dist.all_reduce(total)
    dist.barrier()
    dist.destroy_process_group()


main()
