from env import Env
from torch.utils.data import DataLoader, DistributedSampler


def main(data, args):
    env = Env(args.seed)
    sampler = DistributedSampler(data, seed=env.process_seed)  # expect: DST211
    loader = DataLoader(data, 8, sampler=sampler)
    other = DataLoader(data, 8, sampler=DistributedSampler(data, seed=env.seed))
