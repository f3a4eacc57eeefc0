"""The rank itself."""

import argparse
import os

import torch
import torch.distributed as dist


def main():
    options = argparse.Namespace()
    print(options)
    local_rank = int(os.environ["LOCAL_RANK"])
    os.environ["CUDA_VISIBLE_DEVICES"] = f"{local_rank}"
    dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    checkpoint = torch.load("model.pt")
    model.load_state_dict(checkpoint)
    model.cuda()
    torch.nn.parallel.DistributedDataParallel(model)


main()
