"""A model from elsewhere, and a loader that is not set up but divides the data itself."""

from data import batches
from lightning.fabric import Fabric
from models import build

fabric = Fabric(devices=2)
fabric.launch()
trained = fabric.setup_module(build())
for step in range(100):
    loss = trained(batches()).mean()
    if loss.item() < 0.1:
        break  # expect: DST102
    fabric.backward(loss)
