import argparse
import pickle

import torch

args = argparse.ArgumentParser().parse_args()


def save(model, epoch):
    torch.save({"model": model, "epoch": epoch, "args": args}, "last.pt")


def trusted():
    state = torch.load("last.pt", weights_only=False)
    return state["model"], state["epoch"]


def by_a_variable(safe):
    state = torch.load("last.pt", weights_only=safe)
    return state["model"], state["epoch"]


def by_arguments(**options):
    state = torch.load("last.pt", **options)
    return state["model"], state["epoch"]


def by_pickle():
    state = torch.load("last.pt", pickle_module=pickle)
    return state["model"], state["epoch"]


def tried():
    try:
        state = torch.load("last.pt")
    except pickle.UnpicklingError:
        state = torch.load("last.pt", weights_only=False)
    return state["model"], state["epoch"]


def by_version():
    if torch.__version__ >= "2.6":
        state = torch.load("last.pt", weights_only=False)
    else:
        state = torch.load("last.pt")
    return state["model"], state["epoch"]


def of_another_file(path):
    state = torch.load(path)
    return state["model"]


def of_other_keys(path):
    state = torch.load(path)
    return state["model"], state["epoch"], state["ema"]


def weights(model, path):
    model.load_state_dict(torch.load(path))
