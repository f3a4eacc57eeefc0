import torch


def restore(model):
    model.load_state_dict(torch.load("last.pt", map_location="cpu"))


def save(model, path):
    torch.save(model.state_dict(), path)
