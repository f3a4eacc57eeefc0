import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def by_variable():
    rank = dist.get_rank()
    device = f"cuda:{rank}" if torch.cuda.is_available() else "cpu"  # expect: DST504
    return torch.zeros(1, device=device)


def by_percent():
    return torch.device("cuda:%d" % dist.get_rank())  # expect: DST504


def by_sum():
    device = "cuda:" + str(dist.get_rank())  # expect: DST504
    return device


def by_map(path):
    places = {"cuda:0": f"cuda:{dist.get_rank()}"}  # expect: DST504
    return torch.load(path, map_location=places)


def given(path):
    return torch.load(path, map_location=f"cuda:{dist.get_rank()}")  # expect: DST504


def modulo():
    return f"cuda:{dist.get_rank() % torch.cuda.device_count()}"


def for_people(logger):
    print(f"cuda:{dist.get_rank()}")
    logger.info("cuda:%d" % dist.get_rank())
    logger.info(f"cuda:{dist.get_rank()} is ready")
