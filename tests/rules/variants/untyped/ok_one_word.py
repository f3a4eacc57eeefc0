"""A name of one word may be anybody's."""

import torch.distributed as dist


class Meter:
    def synchronise(self):
        dist.barrier()


def end(engine):
    if dist.get_rank() == 0:
        engine.synchronise()
