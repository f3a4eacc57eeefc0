import argparse

import torch


def save(model, epoch):
    args = argparse.ArgumentParser()
    torch.save({"model": model, "epoch": epoch, "args": args.parse_args()}, "last.pt")


def resume(model, path):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    args = state["args"]
    return state["epoch"], args
