import torch.distributed as dist


def report(name, value):
    if dist.get_rank() == 0:
        print(name, value)
