import torch
import torch.distributed as dist
from metrics import compute


def score():
    return compute("val")


def on_the_gpu(value):
    return torch.tensor(value, device="cuda")


def send(value):
    dist.broadcast(value, 0)  # expect: DST111
