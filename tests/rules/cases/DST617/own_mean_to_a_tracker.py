import torch
import wandb
from lightning.fabric import Fabric
from torch.utils.data import DataLoader


class Logger:
    def __enter__(self):
        return self

    def __exit__(self, *given):
        pass

    def log(self, values, step):
        wandb.log(values, step=step)


def validate(loader, model):
    total, seen = 0, 0
    with torch.no_grad():
        for batch in loader:
            total += model(batch).sum().item()
            seen += len(batch)
    mean = total / seen  # expect: DST617
    return {"val/loss": mean}


def train(fabric, model, loader, val_loader, epochs):
    with Logger() as logger:
        for epoch in range(epochs):
            for batch in loader:
                fabric.backward(model(batch).mean())
            logger.log(validate(val_loader, model), epoch)


def main(model, data, val, epochs):
    fabric = Fabric(devices=2)
    fabric.launch()
    model = fabric.setup(model)
    loader, val_loader = fabric.setup_dataloaders(DataLoader(data), DataLoader(val))
    train(fabric, model, loader, val_loader, epochs)
