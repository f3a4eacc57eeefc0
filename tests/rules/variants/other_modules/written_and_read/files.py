import torch
from ranks import is_main


def exchange(model):
    if is_main():
        torch.save(model.state_dict(), "last.pt")
    return torch.load("last.pt", map_location="cpu")  # expect: DST408
