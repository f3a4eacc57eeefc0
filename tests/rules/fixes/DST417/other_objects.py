import argparse

import numpy as np
import torch

args = argparse.ArgumentParser().parse_args()


def save(model, losses):
    torch.save({"model": model, "loss": np.mean(losses), "args": args}, "last.pt")


def resume(model, path):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    return state["loss"]
