import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def make(ds, options):
    return DataLoader(ds, **options)


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    options = dict(num_workers=2)
    options["sampler"] = DistributedSampler(data)  # expect: DST203
    loader = make(data, options)

    for epoch in range(epochs):
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
