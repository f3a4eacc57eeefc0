import glob

import torch


def mine(folder, rank, world):
    found = sorted(glob.glob(folder + "/*.tar"))
    return [f for f in found if hash(f) % world == rank]  # expect: DST215


def torn(root, parts):
    out = [[] for _ in range(parts)]
    for p in root.iterdir():
        out[hash(p) & (parts - 1)].append(torch.load(p))  # expect: DST215
    return out
