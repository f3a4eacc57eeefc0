import torch


def save(state, path, is_main):
    if is_main:
        torch.save(state, path)
