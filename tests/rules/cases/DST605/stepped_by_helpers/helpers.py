import torch
from torch.distributed.fsdp import MixedPrecision


def types():
    return MixedPrecision(param_dtype=torch.float16)


def go_back(loss):
    loss.backward()


def step(optimizer):
    optimizer.step()
    optimizer.zero_grad()
