import os

import torch
import torch.distributed as dist


class Meter:
    def __init__(self):
        self.total = torch.zeros(2)

    def update(self, value, n):
        self.total[0] += value * n
        self.total[1] += n

    def reduce(self):
        dist.all_reduce(self.total)  # expect: DST511


def main():
    dist.init_process_group("nccl")
    meter = Meter()
    meter.update(1.0, 1)
    meter.reduce()
