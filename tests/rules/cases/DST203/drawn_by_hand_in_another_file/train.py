import torch
import torch.distributed as dist
from itertools import cycle
from mydata import Data, make


def main(ds, model, opt):
    dist.init_process_group("nccl")
    loader, sampler = make(ds)
    epoch = 0
    it = iter(loader)
    for step in range(3000):
        try:
            batch = next(it)
        except StopIteration:
            epoch += 1
            it = iter(loader)
            batch = next(it)
        loss = model(batch).mean()
        loss.backward()
        opt.step()
