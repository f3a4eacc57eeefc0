import os

import lightning as L
import torch
import wandb


class Net(L.LightningModule):
    def __init__(self, options):
        super().__init__()
        self.net = torch.nn.Linear(2, 2)
        if self.global_rank == 0:
            print("made")
        if int(os.environ.get("RANK", "0")) == 0:
            wandb.init(project="x")
        if self._trainer is not None and self.global_rank == 0:
            wandb.log({"a": 1})

    def setup(self, stage):
        self._log()
        if self.global_rank == 0:
            wandb.init(project="x")

    def _log(self):
        if self.global_rank == 0:
            wandb.log({"a": 1})

    def on_fit_start(self):
        self.is_first = self.local_rank == 0


class Own(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.global_rank = int(os.environ["RANK"])
        if self.global_rank == 0:
            wandb.init(project="x")


class Named(L.LightningModule):
    @property
    def local_rank(self):
        return int(os.environ["LOCAL_RANK"])

    def __init__(self):
        super().__init__()
        self.is_first = self.local_rank == 0


class Plain:
    def __init__(self, global_rank):
        self.global_rank = global_rank
        if self.global_rank == 0:
            wandb.init(project="x")
