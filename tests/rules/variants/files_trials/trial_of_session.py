"""The same through a variable, the old name of the module and a helper."""

import os

import torch
import torch.distributed as dist
from ray import train
from ray.air import session


def save(model, folder):
    torch.save(model.state_dict(), os.path.join(folder, "model.pt"))


def trial(config, model):
    dist.init_process_group("nccl")
    context = train.get_context()
    save(model, context.get_trial_dir())
    path = os.path.join(session.get_trial_dir(), "last.pt")
    torch.save(model.state_dict(), path)


class Training:
    def __init__(self, model):
        dist.init_process_group("nccl")
        self.folder = train.get_context().get_trial_dir()
        self.model = model

    def step(self, name):
        torch.save(self.model.state_dict(), os.path.join(self.folder, name))
