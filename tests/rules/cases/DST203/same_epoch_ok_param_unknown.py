import argparse
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def one_epoch(epoch, model, loader, opt):
    loader.sampler.set_epoch(epoch)
    for batch in loader:
        model(batch).mean().backward()
        opt.step()


dist.init_process_group("nccl")


def main(data, model, opt, epochs, hook):
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data))
    for epoch in range(epochs):
        hook(epoch, loader, one_epoch)
        for batch in loader:
            model(batch).mean().backward()
            opt.step()
