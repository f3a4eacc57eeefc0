# The other ranks already wait in the barrier.
import torch
import torch.distributed as dist


def export(path, weights):
    is_writer = dist.get_rank() == 0
    try:
        if is_writer:
            write(path, weights)
    finally:
        dist.barrier()
