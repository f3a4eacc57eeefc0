"""By an exception."""

import os

import torch
import torch.distributed as dist

LOCAL_RANK = int(os.getenv("LOCAL_RANK", -1))


def main(opt, population):
    if LOCAL_RANK != -1:
        if opt.search:
            raise ValueError("one process")
        dist.init_process_group("gloo")
    if not opt.search:
        print("trains")
    else:
        for generation in range(opt.search):
            torch.save(population, opt.folder / "population.pt")
            print(generation)


main(None, [])
