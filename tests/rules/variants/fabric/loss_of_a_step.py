"""The loss of a step, of a model of an unknown class."""

from lightning.fabric import Fabric
from models import build
from torch.utils.data import DataLoader

fabric = Fabric(devices=2)
fabric.launch()
model = fabric.setup_module(build())
loader = fabric.setup_dataloaders(DataLoader([1, 2], batch_size=8))
for inputs in loader:
    loss = model(inputs).mean()
    if loss.item() < 0.1:
        break  # expect: DST102
    fabric.backward(loss)
