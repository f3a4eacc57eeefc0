import os
import torch
import torch.distributed as dist


class Run:
    def __init__(self):
        self.dir = os.path.join("out", f"r{dist.get_rank()}")
