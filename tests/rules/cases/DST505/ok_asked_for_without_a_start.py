import os

import torch

COUNT = torch.cuda.device_count()
HAVE = torch.cuda.is_available()


def main(rank, gpu):
    if COUNT > 1 and HAVE:
        os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu)
    torch.cuda.set_device(0)


def worker(rank):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(rank)
    rank = 0
    torch.cuda.set_device(rank)


main(0, 1)
