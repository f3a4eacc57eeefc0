import argparse
import functools
import os

import torch

torch.serialization.add_safe_globals([argparse.Namespace])
args = argparse.ArgumentParser().parse_args()


def save(model, epoch):
    torch.save({"model": model, "epoch": epoch, "args": args}, "last.pt")


def resume(model):
    state = torch.load("last.pt")
    model.load_state_dict(state["model"])
    return state["epoch"]
