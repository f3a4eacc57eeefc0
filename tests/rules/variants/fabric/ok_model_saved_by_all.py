"""Fabric saves on all ranks, whatever the model is."""

from lightning.fabric import Fabric
from models import build

fabric = Fabric(devices=2)
fabric.launch()
trained, optimizer = fabric.setup(build(), make_optimizer())
fabric.save("model.pt", {"model": trained, "optimizer": optimizer})
