import argparse
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def one_epoch(epoch, model, loader, opt):
    loader.sampler.set_epoch(epoch)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))  # expect: DST203
    begin = 0
    for epoch in range(begin, epochs):
        one_epoch(begin, model, loader, opt)
