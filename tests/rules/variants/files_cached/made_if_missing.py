"""Rank 0 makes the file if it is missing, and all ranks load it."""

import os
import pickle

import torch.distributed as dist


def vocabulary(texts, path):
    if dist.get_rank() == 0 and not os.path.exists(path):
        words = sorted(set(" ".join(texts).split()))
        with open(path, "wb") as file:
            pickle.dump(words, file)
    with open(path, "rb") as file:  # expect: DST408
        return pickle.load(file)


def main(texts):
    dist.init_process_group("gloo")
    vocabulary(texts, "words.pkl")
