"""A property under an innocent name."""

import torch
import torch.distributed as dist


class Saver:
    @property
    def writes(self):
        return dist.get_rank() == 0

    def write(self, state):
        if self.writes:  # expect: DST101
            torch.save(state, "a")
            dist.barrier()
