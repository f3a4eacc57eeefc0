import torch
from parts import drawn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, path):
    images = torch.load(path)
    train, val = drawn(images.shape[0], 900)
    model = DDP(model)
    model(images[train], images[val]).backward()
