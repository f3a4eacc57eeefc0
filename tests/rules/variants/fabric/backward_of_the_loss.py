"""The backward of the loss itself, in a hand-written loop."""

from lightning.fabric import Fabric
from torch.utils.data import DataLoader

fabric = Fabric(devices=2, strategy="ddp")
fabric.launch()
model = fabric.setup_module(make_model())
loader = fabric.setup_dataloaders(DataLoader([1, 2], batch_size=8))
for inputs in loader:
    loss = model(inputs).mean()
    if loss.isnan():
        continue  # expect: DST117
    fabric.backward(loss)
