import torch
from sizes import everyone


def loader(data, args):
    batch_size = args.batch_size // torch.cuda.device_count()
    return torch.utils.data.DataLoader(data, batch_size)


def other(data, args):
    return torch.utils.data.DataLoader(data, args.batch_size // everyone())
