import torch


def fix_seed(number):
    torch.manual_seed(number)
