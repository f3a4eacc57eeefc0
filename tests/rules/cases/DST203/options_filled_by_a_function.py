import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def options(ds, mode):
    kw = {}
    s = DistributedSampler(ds, shuffle=True)  # expect: DST203
    kw["sampler"] = s
    kw["batch_size"] = 4
    return kw


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    loader = DataLoader(data, num_workers=2, **options(data, "train"))

    for epoch in range(epochs):
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
