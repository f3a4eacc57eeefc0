import lightning as L
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def fabric_run(net, data):
    fabric = L.Fabric(devices=8, strategy="ddp")
    fabric.launch()
    model = fabric.setup(net)
    val_loader = fabric.setup_dataloaders(DataLoader(data, batch_size=4))
    total = 0.0
    for batch in val_loader:
        total += model(batch).sum().item()
    fabric.log("val_loss", total / len(val_loader.dataset))  # expect: DST617


def accelerate_run(net, data, accelerator: Accelerator):
    accelerator = Accelerator()
    model, val_loader = accelerator.prepare(net, DataLoader(data, batch_size=4))
    total = 0.0
    with torch.no_grad():
        for batch in val_loader:
            total += model(batch).mean().item()
    mean = total / len(val_loader)  # expect: DST617
    if accelerator.is_main_process:
        print(mean)
