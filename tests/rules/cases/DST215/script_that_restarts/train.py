import torch
from salt import fixed

fixed()


def row(words, size):
    return torch.tensor([hash(word) % size for word in words])
