import torch.multiprocessing as mp


def launch(function, size):
    mp.spawn(function, args=(size,), nprocs=size)
