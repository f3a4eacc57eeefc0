import torch


def save(model, path, is_main):
    if is_main:
        torch.save(model.state_dict(), path)
