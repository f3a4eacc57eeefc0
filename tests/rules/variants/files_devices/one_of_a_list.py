"""Each process sees one GPU, by its local rank."""

import argparse
import os

import torch
import torch.distributed as dist


def main():
    options = argparse.Namespace()
    print(options)
    gpus = [2, 3]
    os.environ["CUDA_VISIBLE_DEVICES"] = str(gpus[int(os.environ["LOCAL_RANK"])])
    dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    checkpoint = torch.load("model.pt")
    model.load_state_dict(checkpoint)
    model.cuda()
    torch.nn.parallel.DistributedDataParallel(model)


main()
