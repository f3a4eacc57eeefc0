import torch.distributed as dist
from corpus import Corpus
from torch.utils.data import DataLoader, DistributedSampler, Subset


def main(lines):
    dist.init_process_group("nccl")
    train, val = Corpus(lines).split(0.9)
    data = Subset(train, range(100))
    return DataLoader(data, sampler=DistributedSampler(data)), val


if __name__ == "__main__":
    main([])
