"""The world size is kept."""

import torch
import torch.distributed as dist


class Fit:
    def __init__(self):
        self.many = dist.get_world_size() > 1

    def save(self):
        if self.many:
            dist.barrier()
