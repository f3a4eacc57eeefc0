import argparse
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    start = 0
    n = 0

    def tick():
        nonlocal n
        n += 1

    for epoch in range(start, epochs):
        sampler.set_epoch(n)
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
        tick()
