"""The rank is asked where the file is missing; the others go on without it."""

import os
import pickle

import torch.distributed as dist


def cached(items, path):
    if os.path.exists(path):
        pass
    elif dist.get_rank() == 0:
        with open(path, "wb") as file:
            pickle.dump(items, file)
    with open(path, "rb") as file:  # expect: DST408
        return pickle.load(file)


def main(items):
    dist.init_process_group("gloo")
    cached(items, "items.pkl")
