import torch


def write(model, path):
    torch.save(model.state_dict(), path)
