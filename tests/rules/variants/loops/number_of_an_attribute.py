"""The same with a number of an attribute."""

import torch.distributed as dist


class Trainer:
    def __init__(self, loader):
        self.rank = dist.get_rank()
        self.loader = loader
        self.step = 0

    def maybe_save(self):
        done = self.step // 2
        if done:
            if self.rank == 0:  # expect: DST101
                dist.barrier()

    def train(self):
        for batch in self.loader:
            self.maybe_save()
            self.step += 2


dist.init_process_group("nccl")
Trainer(open("a")).train()
