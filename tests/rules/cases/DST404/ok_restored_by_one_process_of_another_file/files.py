import torch


def read(path):
    return torch.load(path)
