import torch


def counts(hits, total):
    return torch.tensor([hits, total], dtype=torch.float64)
