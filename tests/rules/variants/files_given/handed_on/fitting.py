"""Trains, and saves by a helper."""

import torch


def keep(state, place):
    print("saved from", place)
    torch.save(state, "model.pt")  # expect: DST406


def fit(model, place):
    model.to(place)
    keep(model.state_dict(), place)
