import torch
import torch.distributed as dist


def export(path, weights):
    is_writer = path.exists()
    try:
        if is_writer:
            write(path, weights)
    finally:
        dist.barrier()  # expect: DST510
