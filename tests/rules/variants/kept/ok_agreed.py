"""What is kept has been agreed on."""

import torch
import torch.distributed as dist


class Fit:
    def __init__(self, flag):
        self.go = torch.tensor(float(flag))
        dist.broadcast(self.go, 0)

    def save(self):
        if self.go:
            dist.barrier()
