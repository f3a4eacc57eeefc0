import os
import shutil

import torch
import torch.distributed as dist


def main(output_dir, is_main):
    dist.init_process_group("nccl")
    if is_main and os.path.exists(output_dir):
        shutil.rmtree(output_dir)


def clean(folder, force):
    dist.barrier()
    if force:
        shutil.rmtree(folder)


def train(model, args):
    clean("runs", dist.get_rank() == 0)
    clean("logs", False)


def handed_on(folder, chosen):
    dist.barrier()
    if chosen:
        shutil.rmtree(folder)


def from_elsewhere(writer):
    handed_on("runs", writer)


def of_unknown_callers(folder, save):
    dist.barrier()
    if save:
        shutil.rmtree(folder)
