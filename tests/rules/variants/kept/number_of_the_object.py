"""The rank itself under another name."""

import torch
import torch.distributed as dist


class Worker:
    def __init__(self, store):
        self.store = store
        self.me = dist.get_rank()

    def flush(self):
        if self.me != 0:
            return  # expect: DST104
        dist.all_reduce(self.store)
