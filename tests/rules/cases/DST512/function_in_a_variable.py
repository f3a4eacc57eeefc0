import os

import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


class Trainer:
    def __init__(self):
        self.main = is_main_process

    def save(self, path):
        if self.main:  # expect: DST512
            open(path, "w").close()


def save(path):
    first = is_main_process
    if first:  # expect: DST512
        open(path, "w").close()
