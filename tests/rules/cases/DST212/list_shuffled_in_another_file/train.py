import torch.distributed as dist
from data import files
from torch.utils.data import DataLoader, DistributedSampler, Subset


def main(folder):
    dist.init_process_group("nccl")
    found = files(folder)
    data = Subset(found, range(100))
    return DataLoader(data, sampler=DistributedSampler(data))


if __name__ == "__main__":
    main("data")
