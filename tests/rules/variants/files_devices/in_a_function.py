"""Set in a function that is called first."""

import argparse
import os

import torch
import torch.distributed as dist


def choose(index):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(index)


def main():
    options = argparse.Namespace()
    print(options)
    choose(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    checkpoint = torch.load("model.pt")
    model.load_state_dict(checkpoint)
    model.cuda()
    torch.nn.parallel.DistributedDataParallel(model)


main()
