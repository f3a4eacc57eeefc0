import torch


def noised(x):
    eps = torch.randn_like(x)
    return x + eps, eps
