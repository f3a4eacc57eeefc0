import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def main(data, args):
    sampler = DistributedSampler(data)
    sampler.seed = args.seed + dist.get_rank()  # expect: DST211
    loader = DataLoader(data, 8, sampler=sampler)
    loader.sampler.seed = args.seed
