"""The twin: the variables of a process that is started."""

import argparse
import os

import torch
import torch.distributed as dist


def main():
    options = argparse.Namespace()
    print(options)
    env = dict(os.environ)
    env["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
    print(env)
    dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    checkpoint = torch.load("model.pt")  # expect: DST404
    model.load_state_dict(checkpoint)
    model.cuda()
    torch.nn.parallel.DistributedDataParallel(model)


main()
