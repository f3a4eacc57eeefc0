"""By putenv, and from a text."""

import argparse
import os

import torch
import torch.distributed as dist


def main():
    options = argparse.Namespace()
    print(options)
    gpus = "2,3".split(",")
    os.putenv("CUDA_VISIBLE_DEVICES", gpus[int(os.environ["LOCAL_RANK"])])
    dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    checkpoint = torch.load("model.pt")
    model.load_state_dict(checkpoint)
    model.cuda()
    torch.nn.parallel.DistributedDataParallel(model)


main()
