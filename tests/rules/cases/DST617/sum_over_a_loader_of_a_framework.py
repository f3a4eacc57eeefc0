import lightning as L
import torch
from torch.utils.data import DataLoader

fabric = L.Fabric(devices=8, strategy="ddp")
fabric.launch()
model = fabric.setup(torch.nn.Linear(3, 3))
loader = fabric.setup_dataloaders(DataLoader(torch.ones(64, 3), batch_size=4))
total, shared = 0.0, 0.0
for batch in loader:
    total += model(batch).sum().item()
    shared += model(batch).sum()
fabric.log("val_loss", total / len(loader.dataset))  # expect: DST617
shared = fabric.all_reduce(shared)
fabric.log("loss", shared / len(loader.dataset))
