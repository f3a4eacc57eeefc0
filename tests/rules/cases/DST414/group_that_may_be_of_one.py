"""Horovod can be initialized in one process: `python inference.py`."""

import os

import torch
from horovod import torch as hvd


def main(opts):
    hvd.init()
    device = torch.device("cuda")
    if not os.path.exists(opts.output_dir):
        os.makedirs(opts.output_dir)
    hvd.shutdown()
