import os

import torch
import torch.multiprocessing as mp


def worker(rank, world):
    os.environ["CUDA_VISIBLE_DEVICES"] = f"{rank}"  # expect: DST505
    model = torch.nn.Linear(2, 2).cuda(rank)
    print(model, world)


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
