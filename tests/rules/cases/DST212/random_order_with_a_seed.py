import random

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler, Sampler


class Buckets(Sampler):
    def __iter__(self):
        random.shuffle(self.rows)  # expect: DST212
        return iter(self.rows)


class Shares(DistributedSampler):
    def __iter__(self):
        if self.seed:
            random.seed(self.seed)
        generator = torch.Generator()
        generator.manual_seed(self.epoch)
        return iter(torch.randperm(8, generator=generator))
