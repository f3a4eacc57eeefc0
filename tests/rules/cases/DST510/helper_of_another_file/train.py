import torch.distributed as dist
from comm import synchronize, total


def first(loader):
    try:
        for x in loader:
            print(x[0])
            dist.all_reduce(x)
    finally:
        synchronize()  # expect: DST510


def second(loader):
    try:
        print([x.load() for x in loader])
    except ValueError:
        total(0)  # expect: DST510
