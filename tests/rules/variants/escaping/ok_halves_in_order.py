"""Halves of a pair that are called in order."""

import torch
import torch.distributed as dist


def run(x):
    def before():
        if dist.get_rank() != 0:
            dist.barrier()

    def after():
        if dist.get_rank() == 0:
            dist.barrier()

    before()
    x.prepare()
    after()
