import torch


def write(state, path):
    torch.save(state, path)


def read(path):
    return torch.load(path, map_location="cpu")  # expect: DST417
