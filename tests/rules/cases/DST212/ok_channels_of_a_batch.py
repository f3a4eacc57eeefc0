import random

import numpy as np
import torch
import torch.distributed as dist


def masked_channels(encoded, target, ratio=0.5):
    B, D, T = encoded.shape
    channels = torch.randperm(D, device=encoded.device)
    split = int(D * ratio)
    kept = channels[:split]
    dropped = channels[split:]
    mask = torch.zeros(1, D, 1)
    mask[:, kept, :] = 1.0
    return encoded * mask, target.index_fill(1, dropped, 0.0)


def masked_frames(x, keep):
    frames = x.size(-1)
    order = torch.randperm(frames)
    return order[:keep], order[keep:]


def masked_by_numpy(x, keep):
    sizes = x.size()
    order = np.random.permutation(sizes[1])
    return order[:keep], order[keep:]


def masked_patches(images, size, keep):
    _, _, height, width = images.size()
    patches = (height // size) * (width // size)
    order = torch.randperm(patches)
    return order[:keep], order[keep:]


def masked_part(x, keep):
    height, width = x.shape[2:]
    order = list(range(height * width))
    random.shuffle(order)
    return order[:keep], order[keep:]


def drawn(count, keep):
    order = torch.randperm(count)
    return order[:keep], order[keep:]


class Dropper:
    def __init__(self, channels):
        self.channels = channels

    def __call__(self, x, keep):
        order = torch.randperm(self.channels)
        kept, dropped = order[:keep], order[keep:]
        x[:, dropped] = 0
        return x, kept


def main(loader, model):
    dist.init_process_group("nccl")
    model = torch.nn.parallel.DistributedDataParallel(model)
    for x, y in loader:
        kept, dropped = drawn(x.shape[2], 5)
        x, y = masked_channels(x, y)
        model(x[:, :, kept]).backward()
