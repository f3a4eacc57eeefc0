import os

import torch


def numbered(root):
    speakers = sorted({os.path.basename(each) for each in os.listdir(root)})
    order = sorted(speakers, key=hash)  # expect: DST215
    return {each: torch.tensor(i) for i, each in enumerate(order)}


def first(names):
    names.sort(key=lambda each: hash(each))  # expect: DST215
    return min(names, key=len)
