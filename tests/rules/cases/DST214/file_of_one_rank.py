import datetime
import os
import time

import torch
import torch.distributed as dist


class Trainer:
    def __init__(self):
        dist.init_process_group("nccl")
        self.rank = dist.get_rank()
        self.path = "model-%s.pth" % time.strftime("%b-%d-%Y_%H-%M-%S")

    def save(self, model):
        if self.rank == 0:
            torch.save(model.state_dict(), self.path)
        dist.barrier()

    def load(self, model):
        dist.barrier()
        model.load_state_dict(torch.load(self.path))  # expect: DST214
