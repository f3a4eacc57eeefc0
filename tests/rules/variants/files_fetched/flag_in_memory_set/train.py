"""The twin: all calls set it."""

import torch.distributed as dist
from stats import fetch


def main(folder):
    dist.init_process_group("gloo")
    fetch("cifar", "folder", in_memory=True)
    dist.destroy_process_group()


main("stats")
