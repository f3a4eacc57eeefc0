"""The values are put into a tensor, by their index."""

import lightning as L
import torch
from torch.utils.data import DataLoader


@torch.no_grad()
def validate(fabric, model, loader):
    losses = torch.zeros(100, device=fabric.device)
    for k, batch in enumerate(loader):
        losses[k] = model(batch).mean().item()
    return losses.mean()  # expect: DST617


def main():
    fabric = L.Fabric(devices=8, strategy="ddp")
    fabric.launch()
    model = fabric.setup(torch.nn.Linear(3, 3))
    loader = fabric.setup_dataloaders(DataLoader(torch.ones(64, 3), batch_size=4))
    val_loss = validate(fabric, model, loader)
    fabric.log_dict({"metric/val_loss": val_loss.item()}, 0)


main()
