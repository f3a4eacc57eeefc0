from env import Env
from loop import fit
from torch.utils.data import DataLoader, DistributedSampler


def main(model, data, args):
    env = Env(args.seed)
    loader = DataLoader(data, 8, sampler=DistributedSampler(data))
    fit(model, loader, env, 9)
