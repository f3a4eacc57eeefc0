from accelerate import Accelerator
from torch.utils.data import DataLoader, DistributedSampler


def make(options):
    sampler = None
    if options.experts > 1 and world > 1:
        sampler = DistributedSampler(data)
    return DataLoader(data, sampler=sampler)


def main(options):
    accelerator = Accelerator()
    loader = make(options)
    if options.experts > 2:
        return loader
    return accelerator.prepare(loader)  # expect: DST213
