import os

import torch.distributed as dist


class Trainer:
    def __init__(self):
        self.rank = os.environ["RANK"]

    def save(self, path):
        if self.rank != 0:  # expect: DST512
            return
        open(path, "w").close()
