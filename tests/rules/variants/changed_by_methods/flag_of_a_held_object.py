"""A method sets the flag on the main process."""

import torch
from accelerate import Accelerator


class Stopper:
    def __init__(self, patience):
        self.patience = patience
        self.should_end = False

    def update(self, loss):
        if loss > self.patience:
            self.should_end = True


accelerator = Accelerator()
stopper = Stopper(3)
for epoch in range(10):
    loss = accelerator.gather(torch.ones(1)).mean()
    if accelerator.is_main_process:
        stopper.update(loss)
    if stopper.should_end:  # expect: DST110
        break
