import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Data:
    def __init__(self, ds):
        self.ds = ds
        self.kw = {}
        self.kw["sampler"] = DistributedSampler(ds)  # expect: DST203

    def loader(self):
        return DataLoader(self.ds, **self.kw)


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    loader = Data(data).loader()

    for epoch in range(epochs):
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
