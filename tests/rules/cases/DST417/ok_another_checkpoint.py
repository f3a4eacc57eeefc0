import argparse

import torch


def save(model, optimizer, epoch, path):
    torch.save({"model": model, "optimizer": optimizer.state_dict(), "epoch": epoch}, path)


def export(model, epoch):
    args = argparse.ArgumentParser().parse_args()
    torch.save({"model": model, "epoch": epoch, "args": args}, "export.pt")


def resume(model, optimizer, path):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"]


def start(model, path):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    return state["epoch"]
