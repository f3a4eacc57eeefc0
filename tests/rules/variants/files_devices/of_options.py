"""The twin: the option is the same for all."""

import argparse
import os

import torch
import torch.distributed as dist


def main():
    options = argparse.Namespace()
    print(options)
    os.environ["CUDA_VISIBLE_DEVICES"] = options.gpus
    dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    checkpoint = torch.load("model.pt")  # expect: DST404
    model.load_state_dict(checkpoint)
    model.cuda()
    torch.nn.parallel.DistributedDataParallel(model)


main()
