import numpy as np
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, Subset


def prepare():
    parts = {}
    parts["indices"] = list(range(1000))
    parts["colours"] = ["red", "green", "blue"]
    np.random.shuffle(parts["colours"])
    print(parts["colours"])
    train, val = parts["indices"][:900], parts["indices"][900:]
    return Subset(range(1000), train), val


def main():
    dist.init_process_group("nccl")
    data, _ = prepare()
    return DataLoader(data, batch_size=8, sampler=DistributedSampler(data, shuffle=False))


if __name__ == "__main__":
    main()
