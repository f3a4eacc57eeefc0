"""A wrapped model in an attribute, stepped by another method."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Learner:
    def __init__(self, net):
        self.learner = DistributedDataParallel(net)

    def step(self, x):
        loss = self.learner(x).mean()
        if loss > 5:
            return  # expect: DST117
        loss.backward()
