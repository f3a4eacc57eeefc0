import torch
import torch.distributed as dist

dist.init_process_group("gloo")


def convert(item):
    dist.all_reduce(item)


try:
    convert(1)
except ValueError:
    dist.barrier()  # expect: DST510
    raise
dist.barrier()
