"""A list of indices that each rank fills from its share until it is full: equally long on all."""

import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset


def indices(dataset, rank, world_size, batch_size, steps):
    chosen = torch.empty([steps * batch_size // world_size], dtype=torch.long)
    epoch, filled = 0, 0
    while filled < chosen.size(0):
        generator = torch.Generator()
        generator.manual_seed(epoch)
        epoch += 1
        share = torch.randperm(len(dataset), generator=generator)[rank::world_size]
        share = share[: chosen.size(0) - filled]
        chosen[filled : filled + share.size(0)] = share
        filled += share.size(0)
    return chosen.tolist()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    dataset = TensorDataset(torch.ones(6, 2))
    sampler = indices(dataset, rank, world_size, 4, args.steps)
    loader = DataLoader(dataset, batch_size=4 // world_size, sampler=sampler)
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    for (batch,) in loader:
        loss = model(batch).mean()
        loss.backward()
        dist.all_reduce(loss)
    dist.destroy_process_group()


main()
