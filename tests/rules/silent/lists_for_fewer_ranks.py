"""Batches for two ranks, one list for each; a cluster of more would have more lists."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    batches = [[torch.rand(1, 2), torch.rand(1, 2)], [torch.rand(1, 2), torch.rand(1, 2)]]
    model = DistributedDataParallel(torch.nn.Linear(2, 2))
    for batch in batches[dist.get_rank()]:
        model(batch).sum().backward()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
