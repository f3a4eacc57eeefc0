"""A method makes it."""

import torch
import torch.distributed as dist


class Loop:
    def hooks(self, engine):
        def stop(x):
            if dist.get_rank() == 0:  # expect: DST101
                dist.all_reduce(x)

        engine.add(stop)
