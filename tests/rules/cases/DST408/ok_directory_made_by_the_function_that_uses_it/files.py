import os

import torch


def save(folder, state, rank):
    os.makedirs(folder, exist_ok=True)
    torch.save(state, os.path.join(folder, f"state_{rank}.pt"))
