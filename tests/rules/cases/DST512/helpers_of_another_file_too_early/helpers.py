import random

import torch.distributed as dist


def is_ready():
    return dist.is_initialized()


def get_rank():
    if not is_ready():
        return 0
    return dist.get_rank()


def is_main_process():
    return get_rank() == 0


def seed_all(seed):
    random.seed(seed + get_rank())


def init_distributed_mode(args):
    if args.gpu is None:
        args.gpu = 0
    dist.init_process_group("nccl")
