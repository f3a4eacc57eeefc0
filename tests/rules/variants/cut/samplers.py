"""Samplers whose numbers are a part by the rank."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Sampler


class InferenceSampler(Sampler):
    def __init__(self, size):
        self._size = size
        self._rank = dist.get_rank()
        self._world_size = dist.get_world_size()
        self._local_indices = self._get_local_indices(size, self._world_size, self._rank)

    @staticmethod
    def _get_local_indices(total_size, world_size, rank):
        shard_size = total_size // world_size
        left = total_size % world_size
        shard_sizes = [shard_size + int(r < left) for r in range(world_size)]
        begin = sum(shard_sizes[:rank])
        end = min(sum(shard_sizes[: rank + 1]), total_size)
        return range(begin, end)

    def __iter__(self):
        yield from self._local_indices

    def __len__(self):
        return len(self._local_indices)


class Every(Sampler):
    def __init__(self, data):
        self.picked = range(dist.get_rank(), len(data), dist.get_world_size())

    def __iter__(self):
        return iter(self.picked)


class Block(Sampler):
    def __init__(self, data, rank, world):
        per = len(data) // world
        start = rank * per
        stop = len(data) if rank == world - 1 else start + per
        self.indices = list(range(len(data)))[start:stop]

    def __iter__(self):
        for index in self.indices:
            yield index


class Batches(Sampler):
    def __init__(self, batches, rank, world):
        self.batches = batches[rank::world]

    def __iter__(self):
        for batch in self.batches:
            yield batch

    def __len__(self):
        return len(self.batches)


dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def gathered(data):
    for batch in DataLoader(data, sampler=InferenceSampler(len(data))):  # expect: DST109
        dist.gather_object(batch, None, dst=0)


def trained(data):
    for batch in DataLoader(data, sampler=InferenceSampler(len(data))):  # expect: DST113
        model(batch).sum().backward()


def every(data):
    loader = DataLoader(data, 4, sampler=Every(data))
    for batch in loader:  # expect: DST113
        model(batch).sum().backward()


def block(data):
    loader = DataLoader(data, 4, False, Block(data, rank, world))
    for epoch in range(5):
        for batch in loader:  # expect: DST113
            model(batch).sum().backward()


def batches(data, bins):
    loader = DataLoader(data, batch_sampler=Batches(bins, rank, world))
    for batch in loader:  # expect: DST113
        model(batch).sum().backward()


class Strided(Sampler):
    def __init__(self, size):
        self.size = size
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()

    def __iter__(self):
        return iter(range(self.rank, self.size, self.world_size))


class Shuffled(Sampler):
    def __init__(self, data, rank, world_size):
        self.data, self.rank, self.world_size = data, rank, world_size

    def __iter__(self):
        order = torch.randperm(len(self.data)).tolist()
        yield from order[self.rank :: self.world_size]


def strided(data):
    for batch in DataLoader(data, sampler=Strided(len(data))):  # expect: DST113
        model(batch).sum().backward()


def shuffled(data):
    for batch in DataLoader(data, sampler=Shuffled(data, rank, world)):  # expect: DST113
        model(batch).sum().backward()
