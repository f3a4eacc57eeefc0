import os

from torch.utils.data import DistributedSampler

seed = 3 + int(os.environ["RANK"])
sampler = DistributedSampler(d, seed=seed)  # expect: DST211
