"""Nothing runs this several times."""

import os

import torch


def features(data, path):
    if os.path.exists(path):
        return torch.load(path)
    found = data.mean(0)
    torch.save(found, path)
    return found
