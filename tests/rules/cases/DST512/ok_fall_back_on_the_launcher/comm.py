import os

import torch.distributed as dist


def is_main_process():
    if dist.is_initialized():
        return dist.get_rank() == 0
    return int(os.environ.get("RANK", 0)) == 0


def setup():
    dist.init_process_group("gloo")
