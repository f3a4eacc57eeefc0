import argparse

import torch

args = argparse.ArgumentParser().parse_args()


def save(model, epoch):
    torch.save({"model": model, "epoch": epoch, 'args': vars(args)}, "last.pt")


def save_by_call(model, epoch):
    torch.save(dict(model=model, epoch=epoch, args=vars(args)), f"{epoch}.pt")


def save_later(model, epoch):
    state = {"model": model, "epoch": epoch}
    state["args"] = vars(args)  # of this run
    torch.save(state, f"{epoch}-b.pt")


def resume(model, path):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    return state["epoch"]
