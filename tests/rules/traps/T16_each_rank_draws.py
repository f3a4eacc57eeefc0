"""T16. No sampler, because each rank draws at random from a stream without end."""

import itertools
import random

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


def worker_id():
    info = get_worker_info()
    return info.id if info is not None else 0


class Crops(IterableDataset):
    def __init__(self, cases):
        self.cases = cases

    def crop(self, case, rng):
        start = rng.randrange(len(case) - 2)
        return case[start : start + 2]

    def __iter__(self):
        rng = random.Random(1337 + 1000 * dist.get_rank() + worker_id())
        while True:
            yield self.crop(rng.choice(self.cases), rng)


dist.init_process_group("gloo")
loader = DataLoader(Crops(list(torch.randn(4, 6))), batch_size=3)
model = DDP(torch.nn.Linear(2, 1))
for batch in itertools.islice(loader, 4):
    model(batch).mean().backward()
dist.destroy_process_group()
