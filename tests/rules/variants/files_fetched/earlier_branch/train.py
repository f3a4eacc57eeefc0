"""An earlier branch keeps the answer in memory."""

import torch.distributed as dist
from stats import fetch


def main(folder):
    dist.init_process_group("gloo")
    fetch("cifar")
    dist.destroy_process_group()


main("stats")
