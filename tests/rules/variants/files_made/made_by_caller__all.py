"""All ranks have made it, where a folder that is there is no error."""

import os

import torch.distributed as dist


class Run:
    def __init__(self, out):
        self.out = out
        os.makedirs(self.out, exist_ok=True)
        self.log = self.open_log(self.out)

    def open_log(self, folder):
        if not os.path.isdir(folder):
            os.mkdir(folder)
        return os.path.join(folder, "log.txt")


def main(out):
    dist.init_process_group("nccl")
    return Run(out)
