import os
import numpy as np
import random
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, TensorDataset

rank = int(os.environ["RANK"])


class Files(Dataset):
    def __init__(self, files):
        self.files = files
        random.shuffle(self.files)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return self.files[i]


def main(net, files):
    dist.init_process_group("nccl")
    random.seed(rank)
    data = Files(files)
    loader = DataLoader(data, batch_size=4, shuffle=False)
    model = DDP(net)
    for x in loader:
        model(x).mean().backward()


if __name__ == "__main__":
    main(None, None)
