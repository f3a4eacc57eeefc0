import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    kw = {"batch_size": 4}
    if dist.get_world_size() > 1:
        kw["sampler"] = DistributedSampler(data)
    else:
        kw["shuffle"] = True
    loader = DataLoader(data, **kw)

    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
