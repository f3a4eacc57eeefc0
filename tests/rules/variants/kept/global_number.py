"""A global that a function sets."""

import os

import torch
import torch.distributed as dist

ME = int(os.environ["RANK"])


def finish(state):
    if ME == 0:  # expect: DST101
        dist.broadcast(state, 0)
