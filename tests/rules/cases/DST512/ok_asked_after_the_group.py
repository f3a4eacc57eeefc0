import os

import torch.distributed as dist


def rank():
    return dist.get_rank() if dist.is_initialized() else 0


def launched_rank():
    return int(os.environ.get("RANK", 0))


if "RANK" in os.environ:
    dist.init_process_group("gloo")
RANK = rank()
FIRST = launched_rank() == 0


def again():
    dist.destroy_process_group()
    dist.init_process_group("gloo")
    return rank
