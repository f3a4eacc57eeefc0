from seeding import job_seed, own_seed
from torch.utils.data import DataLoader, DistributedSampler


def main(data, device):
    seed = job_seed(device)
    return DataLoader(data, 8, sampler=DistributedSampler(data, seed=seed))


def mixed(data, device):
    seed = own_seed(device)
    sampler = DistributedSampler(data, seed=seed)  # expect: DST211
    return DataLoader(data, 8, sampler=sampler)
