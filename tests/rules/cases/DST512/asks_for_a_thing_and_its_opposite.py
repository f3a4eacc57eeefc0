import torch.distributed as dist
from torch.distributed import get_rank, is_initialized


def say(text):
    if (not is_initialized()) and (is_initialized() and get_rank() == 0):  # expect: DST512
        print(text)


def shout(text):
    if dist.get_rank() != 0 and text and dist.get_rank() == 0:  # expect: DST512
        print(text)


class Log:
    def __init__(self, rank):
        self.rank = rank

    def always(self):
        return 1 if self.rank == 0 or not self.rank == 0 else 2  # expect: DST512

    def by_de_morgan(self):
        if not (self.rank or is_initialized()) and is_initialized():  # expect: DST512
            print(self)


def inside(text):
    if text and (is_initialized() or not is_initialized()):  # expect: DST512
        print(text)
