"""Seeds are cut into a multiple of the world size: every rank has as many batches."""

import numpy as np
import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    world = dist.get_world_size()
    seeds = list(range(1000))
    count = ((len(seeds) - 1) // (64 * world) + 1) * world
    for seed in torch.as_tensor(seeds).tensor_split(count)[dist.get_rank() :: world]:
        dist.barrier()
        print(seed)
    for seed in np.array_split(seeds, count)[dist.get_rank() :: world]:
        dist.barrier()
        print(seed)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
