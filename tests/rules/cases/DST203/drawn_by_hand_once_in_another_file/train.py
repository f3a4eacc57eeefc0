import torch
import torch.distributed as dist
from itertools import cycle
from mydata import Data, make


def main(ds, model, opt):
    dist.init_process_group("nccl")
    loader, sampler = make(ds)
    it = iter(loader)
    for step in range(len(loader)):
        batch = next(it)
        loss = model(batch).mean()
        loss.backward()
        opt.step()
