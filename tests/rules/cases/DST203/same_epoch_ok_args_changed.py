import argparse
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    args = argparse.ArgumentParser().parse_args()
    start = args.start_epoch
    for epoch in range(start, epochs):
        sampler.set_epoch(args.start_epoch)
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
        args.start_epoch = epoch + 1
