"""The twin: the same one for all."""

import argparse
import os

import torch
import torch.distributed as dist


def choose(index):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(index)


def main():
    options = argparse.Namespace()
    print(options)
    choose(1)
    dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    checkpoint = torch.load("model.pt")  # expect: DST404
    model.load_state_dict(checkpoint)
    model.cuda()
    torch.nn.parallel.DistributedDataParallel(model)


main()
