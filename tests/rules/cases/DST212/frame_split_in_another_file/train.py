import torch.distributed as dist
from data import load
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Rows(Dataset):
    def __init__(self, frame):
        self.frame = frame

    def __getitem__(self, index):
        return self.frame.iloc[index]


def main(path):
    dist.init_process_group("nccl")
    train, val = load(path)
    data = Rows(train)
    return DataLoader(data, sampler=DistributedSampler(data)), Rows(val)


if __name__ == "__main__":
    main("train.csv")
