import random

import torch


def augment(sample, name):
    generator = random.Random(hash(name))  # expect: DST215
    torch.manual_seed(hash(sample["file"]))  # expect: DST215
    return generator.random()
