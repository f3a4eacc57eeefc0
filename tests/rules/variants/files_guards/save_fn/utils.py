import torch


def save(state, path):
    torch.save(state, path)  # expect: DST406
