import os

import torch


class Checkpoint:
    def __init__(self, rank, output="./"):
        self.rank: int = rank
        self.output: str = output

    def __call__(self, step, backbone, header=None):
        if step > 100 and self.rank == 0:
            path = os.path.join(self.output, str(step) + "backbone.pth")
            torch.save(backbone.module.state_dict(), path)
        if step > 100 and header is not None:
            path = os.path.join(self.output, str(step) + "header.pth")
            torch.save(header.module.state_dict(), path)  # expect: DST406


class FirstOnly:
    def __init__(self, header=None):
        self.header = header

    def __call__(self, step):
        if self.header is not None:
            torch.save(self.header.module.state_dict(), f"{step}.pth")
