"""A trainer counts steps by an option in the dict that its helpers fill; nothing is reduced."""

import contextlib
import copy

import torch.distributed as dist


def batch_forward(model, batch, info):
    info["loss"] = model(batch)
    return info


def batch_backward(info):
    info["loss"].backward()
    return info


class Executor:
    def __init__(self):
        self.step = 0

    def train(self, model, optimizer, loader, configs):
        model.train()
        info = copy.deepcopy(configs)
        for index, batch in enumerate(loader):
            context = contextlib.nullcontext
            if (index + 1) % info["accumulate"] != 0:
                context = model.no_sync
            with context():
                info = batch_forward(model, batch, info)
                info = batch_backward(info)
            if (index + 1) % info["accumulate"] == 0:
                optimizer.step()
            if (self.step + 1) % info["interval"] == 0 and self.step != 0:
                dist.barrier()
                self.validate(model)
                dist.barrier()
            self.step += 1 if (index + 1) % info["accumulate"] == 0 else 0

    def validate(self, model):
        model.eval()
