import os

import torch


def save(folder, state, rank):
    torch.save(state, os.path.join(folder, f"state_{rank}.pt"))
