import torch.distributed as dist
from torch.utils.data import DistributedSampler


class Run:
    def __init__(self, data):
        self.sampler = DistributedSampler(data)

    def _begin(self):
        dist.init_process_group("nccl")

    def go(self):
        self._begin()
        return list(self.sampler)


def main(data):
    run = Run(data)  # expect: DST509
    run.go()
