import os

import torch
import torch.distributed as dist


def network():
    try:
        dist.init_process_group("nccl")
    except (ValueError, dist.DistNetworkError):  # expect: DST515
        print("no network")


def runtime():
    rank, world = 0, 1
    try:
        dist.init_process_group("nccl")
    except RuntimeError:  # expect: DST515
        rank, world = 0, 1
    return rank, world


class Run:
    def __init__(self):
        self.many = self._join()
        self.model = torch.nn.Linear(2, 2)

    def _join(self):
        if "RANK" not in os.environ:
            return False
        try:
            dist.init_process_group("nccl")
        except (RuntimeError, ValueError):  # expect: DST515
            return False
        return True


network()
print(runtime())
torch.save(Run().model, "model.pt")
