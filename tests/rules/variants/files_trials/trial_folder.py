"""Each trial of Ray Tune has a folder of its own."""

import os

import torch
from ray import train, tune


def trial(config, model):
    torch.distributed.init_process_group("nccl")
    folder = train.get_context().get_trial_dir()
    torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
    with tune.checkpoint_dir(step=1) as inner:
        torch.save(model.state_dict(), os.path.join(inner, "model.pt"))
    torch.save(model.state_dict(), os.path.join(tune.get_trial_dir(), "model.pt"))
