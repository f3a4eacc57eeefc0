"""By a flag with a default."""

import torch.distributed as dist
from stats import fetch


def main(folder):
    dist.init_process_group("gloo")
    fetch("cifar", "folder")
    dist.destroy_process_group()


main("stats")
