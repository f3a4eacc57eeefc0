"""T36. The loss method of the bare model is given the outputs of the wrapper."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Detector(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.layer(x)

    def criterion(self, batch, preds):
        return (preds - batch["target"]).abs().mean()


def unwrap(model):
    return model.module if isinstance(model, DDP) else model


dist.init_process_group("gloo")
ddp = DDP(Detector())
batch = {"img": torch.randn(3, 4), "target": torch.zeros(3, 2)}
preds = ddp(batch["img"])
loss = unwrap(ddp).criterion(batch, preds)
loss.backward()
dist.destroy_process_group()
