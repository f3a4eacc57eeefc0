"""What a function is given that makes the process group itself is the same on all ranks."""

import os
import shutil

import torch
import torch.distributed as dist


def join():
    dist.init_process_group("nccl")


def main(output_dir, overwrite):
    dist.init_process_group("nccl")
    if overwrite and os.path.exists(output_dir):
        shutil.rmtree(output_dir)  # expect: DST413


def by_a_helper(output_dir, debug=False):
    join()
    if debug:
        shutil.rmtree(output_dir)  # expect: DST413
    dist.barrier()


def clean(folder, force):
    dist.barrier()
    if force:
        shutil.rmtree(folder)  # expect: DST413


def train(model):
    clean("runs", True)
    clean("logs", force=False)


class Trainer:
    def __init__(self, folder, fresh):
        dist.init_process_group("nccl")
        if not fresh:
            return
        shutil.rmtree(folder)  # expect: DST413
