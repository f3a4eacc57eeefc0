"""The last rank serves the others and makes no trainer: its members alone make the group."""

import torch.distributed as dist


class Trainer:
    def __init__(self):
        self.rank = dist.get_rank()
        ranks = list(range(dist.get_world_size() - 1))
        self.group = dist.new_group(ranks, use_local_synchronization=True)
        dist.barrier(group=self.group)

    def step(self, loss):
        dist.all_reduce(loss, group=self.group)
        dist.barrier(group=self.group)
        return loss
