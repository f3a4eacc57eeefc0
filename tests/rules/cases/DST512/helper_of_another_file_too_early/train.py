import os

import torch.distributed as dist
from comm import is_main_process


def main(path):
    if is_main_process():  # expect: DST512
        os.makedirs(path)
    dist.init_process_group("gloo")
