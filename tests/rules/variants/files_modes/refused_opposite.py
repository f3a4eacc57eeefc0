"""The twin: it is asked for."""

import os

import torch
import torch.distributed as dist

LOCAL_RANK = int(os.getenv("LOCAL_RANK", -1))


def main(opt, population):
    if LOCAL_RANK != -1:
        assert opt.search, "search"
        dist.init_process_group("gloo")
    if not opt.search:
        print("trains")
    else:
        for generation in range(opt.search):
            torch.save(population, opt.folder / "population.pt")  # expect: DST406
            print(generation)


main(None, [])
