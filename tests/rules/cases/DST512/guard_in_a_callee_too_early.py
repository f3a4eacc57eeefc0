import os

import torch.distributed as dist


def is_main():
    return dist.get_rank() == 0 if dist.is_initialized() else True


def prepare(path):
    if is_main():
        os.makedirs(path)


def main(path):
    prepare(path)  # expect: DST512
    dist.init_process_group("gloo")
