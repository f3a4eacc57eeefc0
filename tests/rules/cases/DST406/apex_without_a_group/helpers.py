import torch


def seed(number):
    torch.manual_seed(number)
