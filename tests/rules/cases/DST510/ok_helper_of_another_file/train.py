import torch.distributed as dist
from comm import close, log, synchronize


def first(loader):
    try:
        for x in loader:
            print(x[0])
            dist.all_reduce(x)
    finally:
        log("end")
        close(False)


def second(loader):
    try:
        rows = [x.load() for x in loader]
    except ValueError:
        synchronize()
        raise
    synchronize()
    return rows
