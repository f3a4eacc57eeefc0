import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    kw = {"batch_size": 4}
    kw["sampler"] = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, **kw)
    kw["sampler"] = DistributedSampler(data)
    other = DataLoader(data, **kw)

    for epoch in range(epochs):
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
