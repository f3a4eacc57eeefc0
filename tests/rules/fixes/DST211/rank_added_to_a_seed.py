import os

from torch.utils.data import DistributedSampler

rank = int(os.environ["RANK"])
sampler = DistributedSampler(d, seed=(args.seed + rank))
