import torch
from metrics import compute


def lines(path):
    return len(open(path).readlines())


def score():
    return compute("val")


def as_float(value):
    return torch.tensor(value, device="cuda", dtype=torch.float32)


def on_the_gpu(value):
    return torch.tensor(value, device="cuda")
