"""Rank 0 prints its loss."""

from lightning.fabric import Fabric
from models import build
from torch.utils.data import DataLoader

fabric = Fabric(devices=2)
fabric.launch()
model = fabric.setup_module(build())
loader = fabric.setup_dataloaders(DataLoader([1, 2], batch_size=8))
for inputs in loader:
    loss = model(inputs).mean()
    if fabric.is_global_zero and loss.item() < 0.1:
        print("low")
    fabric.backward(loss)
