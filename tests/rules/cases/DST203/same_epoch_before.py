import argparse
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(data)  # expect: DST203
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    start = 2
    sampler.set_epoch(start)
    for epoch in range(start, epochs):
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
