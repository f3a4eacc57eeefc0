import zlib

import torch


def hash(text):
    return zlib.crc32(text.encode())


def mine(names, rank, world):
    return [torch.load(name) for name in names if hash(name) % world == rank]
