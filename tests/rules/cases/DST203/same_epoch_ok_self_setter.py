import argparse
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


class Trainer:
    def __init__(self, model, opt, data):
        self.epoch = 0
        self.model, self.opt = model, opt
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, batch_size=4, sampler=self.sampler)

    def run_epoch(self, e):
        self.loader.sampler.set_epoch(self.epoch)
        for x in self.loader:
            self.model(x).mean().backward()
            self.opt.step()

    def train(self, epochs):
        for e in range(self.epoch, epochs):
            self.run_epoch(e)
            self.at(e)

    def at(self, e):
        self.epoch = e


dist.init_process_group("nccl")
