"""The twin: methods of the same names that are not Ray's."""

import os

import torch
import torch.distributed as dist


class Store:
    def get_trial_dir(self):
        return "out"


def trial(store: Store, model):
    dist.init_process_group("nccl")
    folder = store.get_trial_dir()
    torch.save(model.state_dict(), os.path.join(folder, "model.pt"))  # expect: DST406
