"""The same by a test that has the same outcome on all ranks."""

import torch
import torch.distributed as dist


def refresh(state):
    dist.broadcast(state, src=0)


def keep(state):
    pass


def main(fresh):
    dist.init_process_group("gloo")
    state, most = torch.zeros(4), torch.randn(64).max()
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    actions = {True: refresh, False: keep}
    actions[bool(most > 3)](state)
    actions[bool(fresh)](state)
    (keep, refresh)[int(most > 2)](state)


main(True)
