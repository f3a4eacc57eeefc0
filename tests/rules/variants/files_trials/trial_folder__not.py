"""The twin: a folder that the trials share."""

import os

import torch
from ray import train


def trial(config, model):
    torch.distributed.init_process_group("nccl")
    print(train.get_context().get_trial_name())
    torch.save(model.state_dict(), os.path.join(config["out"], "model.pt"))  # expect: DST406
