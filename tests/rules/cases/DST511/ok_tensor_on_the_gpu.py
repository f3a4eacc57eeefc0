import os

import torch
import torch.distributed as dist


class Config:
    device = "cuda"


class Meter:
    def __init__(self, device):
        self.device = device
        self.total = torch.zeros(2)
        self.sums = torch.zeros(2).to(device)

    def reduce(self):
        total = torch.tensor([1.0], device=self.device)
        dist.all_reduce(total)
        self.total = self.total.cuda()
        dist.all_reduce(self.total)
        dist.all_reduce(self.sums)


def scalar(value, device):
    return torch.tensor([value], device=device)


def mean(value):
    dist.all_reduce(value)
    return value


def main(args, loss):
    dist.init_process_group("nccl")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    one = torch.tensor([1.0], device=device)
    dist.all_reduce(one)
    two = torch.zeros(1, device=Config.device)
    dist.all_reduce(two)
    three = torch.zeros(1, device=args.device)
    dist.all_reduce(three)
    four = scalar(1.0, device)
    dist.all_reduce(four)
    five = loss.cpu().to(device)
    dist.all_reduce(five)
    return mean(torch.ones(1)), mean(torch.ones(1).cuda())
