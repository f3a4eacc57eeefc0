import os

import horovod.torch as hvd
import torch


def wrapped(optimizer):
    return hvd.DistributedOptimizer(optimizer)


def main(opts):
    hvd.init()
    if not os.path.exists(opts.output_dir):
        os.makedirs(opts.output_dir)  # expect: DST414
