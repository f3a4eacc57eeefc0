"""The number of steps is the same on all ranks."""

from lightning.fabric import Fabric
from models import build
from torch.utils.data import DataLoader

fabric = Fabric(devices=2)
fabric.launch()
model = fabric.setup_module(build())
loader = fabric.setup_dataloaders(DataLoader([1, 2], batch_size=8))
for step, inputs in enumerate(loader):
    loss = model(inputs).mean()
    if step >= 100:
        break
    fabric.backward(loss)
