"""A method of this name is known of a framework, so nobody knows whose it is."""

import torch.distributed as dist


class Task:
    def load_state_dict(self, state):
        dist.barrier()
        self.state = state


def load(optimizer, state):
    if dist.get_rank() == 0:
        optimizer.load_state_dict(state)
