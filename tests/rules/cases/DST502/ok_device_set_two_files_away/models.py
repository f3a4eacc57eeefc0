import torch
from places import choose


def build():
    choose()
    return torch.nn.Linear(2, 2).to("cuda")
