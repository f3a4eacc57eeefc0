from env import own_seed
from torch.utils.data import DataLoader, DistributedSampler


def main(data, args):
    seed = own_seed(args.seed)
    sampler = DistributedSampler(data, seed=seed)  # expect: DST211
    return DataLoader(data, 8, sampler=sampler)
