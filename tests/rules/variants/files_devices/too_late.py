"""The twin: CUDA has started by then, with all GPUs."""

import argparse
import os

import torch
import torch.distributed as dist


def main():
    options = argparse.Namespace()
    print(options)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.ones(1).cuda()
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]
    dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    checkpoint = torch.load("model.pt")  # expect: DST404
    model.load_state_dict(checkpoint)
    model.cuda()
    torch.nn.parallel.DistributedDataParallel(model)


main()
