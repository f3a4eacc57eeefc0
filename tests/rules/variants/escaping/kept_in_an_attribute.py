"""A closure that an object is given."""

import torch
import torch.distributed as dist


def setup(generator, post):
    def sync():
        if dist.get_rank() == 0 and post() != 200:
            return  # expect: DST104
        dist.barrier()

    generator.sync = sync
