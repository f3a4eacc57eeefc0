"""The history and the stop flag are kept on the main process; all processes read the flag."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Brain:
    def __init__(self, model, is_main):
        self.model = model
        self.is_main = is_main
        self.history = []
        self.stop = False

    def train_epoch(self):
        self.model(torch.ones(2, 2)).mean().backward()

    def fit(self, valid_losses):
        for loss in valid_losses:
            self.train_epoch()
            if self.is_main:
                self.history.append(loss)
                self.stop = loss > min(self.history)
            if self.stop:  # expect: DST110
                break


dist.init_process_group("gloo")
brain = Brain(DDP(torch.nn.Linear(2, 1)), is_main=dist.get_rank() == 0)
brain.fit([3.0, 2.0, 2.5, 2.0, 1.0])
dist.barrier()
