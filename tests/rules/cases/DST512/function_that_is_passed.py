import os

import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


def save(path, main):
    if main:  # expect: DST512
        open(path, "w").close()


save("report.txt", is_main_process)
