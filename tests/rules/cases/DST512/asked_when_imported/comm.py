import torch.distributed as dist


def rank():
    if not dist.is_initialized():
        return 0
    return dist.get_rank()


def is_first():
    return rank() == 0


FIRST = is_first()  # expect: DST512
RANK = rank()  # expect: DST512
LAST = not rank() == 0  # expect: DST512


def join():
    dist.init_process_group("gloo")
    return rank(), is_first()
