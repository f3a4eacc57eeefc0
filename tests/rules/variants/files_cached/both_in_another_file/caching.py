import os
import pickle

import torch.distributed as dist


def is_main_process():
    return not dist.is_initialized() or dist.get_rank() == 0


def store(value, path):
    with open(path, "wb") as file:
        pickle.dump(value, file)


def fetch(path):
    with open(path, "rb") as file:
        return pickle.load(file)
