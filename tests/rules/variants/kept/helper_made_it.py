"""What is kept is what a helper returned."""

import torch
import torch.distributed as dist


def is_chief():
    return dist.get_rank() == 0


class Saver:
    def __init__(self):
        self.writes = is_chief()

    def write(self, state):
        if self.writes:  # expect: DST101
            torch.save(state, "a")
            dist.barrier()
