import random
import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Data(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return len(self.files)

    def shuffle(self, seed=0):
        self.files = [
            self.files[i] for i in np.random.RandomState(seed).permutation(len(self.files))
        ]

    def log(self, epoch):
        print(epoch)

    def __getitem__(self, i):
        return self.files[i]


dist.init_process_group("gloo")
data = Data(list(range(64)))
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))  # expect: DST203
w = torch.ones(1, requires_grad=True)

for epoch in range(3):
    data.shuffle(0)
    for batch in loader:
        (w * batch).sum().backward()
