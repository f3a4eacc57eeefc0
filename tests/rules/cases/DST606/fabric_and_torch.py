import lightning as L
import torch
from lightning.fabric import Fabric
from torch.nn.utils import clip_grad_norm_


def train(fabric, model, optimizer, loader):
    for batch in loader:
        fabric.backward(model(batch).mean())
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST606
        optimizer.step()
        optimizer.zero_grad()


def main(model, optimizer, loader):
    fabric = L.Fabric(devices=4, precision="16-mixed")
    fabric.launch()
    train(fabric, model, optimizer, loader)


class Trainer:
    def __init__(self, options):
        self.fabric = Fabric("cuda", "ddp", 4, 1, options["precision"])
        self.fabric.launch()

    def fit(self, model, optimizer, loader):
        for batch in loader:
            loss = model(batch).mean()
            self.fabric.backward(loss)
            clip_grad_norm_(model.parameters(), 1.0)  # expect: DST606
            optimizer.step()
