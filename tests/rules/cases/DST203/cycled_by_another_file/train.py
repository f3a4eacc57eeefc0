import os

import torch
import torch.distributed as dist
from endless import cycle
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Trainer:
    def __init__(self, images):
        dist.init_process_group("nccl")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        sampler = DistributedSampler(images, drop_last=True)  # expect: DST203
        self.batches = cycle(DataLoader(images, batch_size=4, sampler=sampler))
        self.model = DDP(torch.nn.Linear(3, 1).cuda())

    def train(self, steps):
        for _ in range(steps):
            self.model(next(self.batches).cuda()).mean().backward()


Trainer(torch.ones(8, 3)).train(1000)
