import os

import torch
import torch.distributed as dist


class Trainer:
    def __init__(self):
        dist.init_process_group("nccl")
        self.device = "cpu"

    def mean(self, value):
        total = torch.tensor([value], device=self.device)
        dist.all_reduce(total)  # expect: DST511
        return total / dist.get_world_size()
