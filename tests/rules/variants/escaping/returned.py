"""The function that is made is returned."""

import torch
import torch.distributed as dist


def make_saver(path):
    def save(state):
        if dist.get_rank() != 0:
            return  # expect: DST104
        torch.save(state, path)
        dist.barrier()

    return save
