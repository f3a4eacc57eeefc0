"""The twin: the helper tests what it is handed."""

import torch
import torch.distributed as dist
from fitting import fit


def make():
    return torch.nn.Linear(2, 2)


def main():
    dist.init_process_group("gloo")
    local_rank = dist.get_rank()
    fit(make(), local_rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
