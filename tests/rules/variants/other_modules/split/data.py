from torch.utils.data import random_split


def parts(data):
    return random_split(data, [0.9, 0.1])  # expect: DST212
