import random

import torch
import torch.distributed as dist
from torch.utils.data import DistributedSampler, Sampler


class Buckets(Sampler):
    def __iter__(self):
        random.shuffle(self.rows)
        return iter(self.rows)


class Shares(DistributedSampler):
    def __iter__(self):
        generator = torch.Generator()
        generator.manual_seed(self.epoch)
        return iter(torch.randperm(8, generator=generator))
