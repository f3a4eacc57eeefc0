import argparse

import torch

args = argparse.ArgumentParser().parse_args()


def save(model, epoch):
    torch.save({"model": model, "epoch": epoch, "args": args}, "last.pt")


def resume(model):
    state = torch.load("last.pt")
    model.load_state_dict(state["model"])
    return state["epoch"]
