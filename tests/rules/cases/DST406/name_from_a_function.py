"""A function returns the name of the file, or the number in it."""

import os

import numpy as np
import torch.distributed as dist

dist.init_process_group("nccl")


def path(i):
    return os.path.join("codes", f"{dist.get_rank()}_{i}.npy")


def index(i):
    number = dist.get_rank() + i * dist.get_world_size()
    return number


def place(i):
    number = index(i)
    return "codes/{}.npy".format(number)


def path_on_all(i):
    if dist.get_rank() == 0:
        print(i)
    return os.path.join("codes", f"{i}.npy")


def group(i):
    return i + dist.get_rank() // dist.get_world_size()


class Files:
    def __init__(self, directory):
        self.directory = directory
        self.rank = dist.get_rank()

    def own(self, i):
        return f"{self.directory}/{self.rank}_{i}.npy"

    def common(self, i):
        return f"{self.directory}/{i}.npy"


i, codes = given()
np.save(path(i), codes)
np.save(place(i), codes)
step = index(i)
np.save(f"codes/{step}.npy", codes)
number = index(i)
np.save(file=f"codes/{number}.npy", arr=codes)
np.save(path_on_all(i), codes)  # expect: DST406
np.save(f"{group(i)}.npy", codes)  # expect: DST406
files = Files("codes")
np.save(files.own(i), codes)
np.save(files.common(i), codes)  # expect: DST406
