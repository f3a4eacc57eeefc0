import torch
import torch.distributed as dist

dist.init_process_group("gloo")


def convert(item):
    print(item)


try:
    convert(1)
except ValueError:
    dist.barrier()
    raise
dist.barrier()
