import torch
from env import setup

setup()
torch.save({}, "model.pt")
