import lightning as L
import torch

fabric = L.Fabric(devices=4, precision="16-mixed")
fabric.launch()


def train(model, optimizer, loader):
    for batch in loader:
        fabric.backward(model(batch).mean())
        fabric.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()


def in_bfloat16(model, optimizer, loader):
    fabric = L.Fabric(devices=4, precision="bf16-mixed")
    for batch in loader:
        fabric.backward(model(batch).mean())
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def by_default(model, optimizer, loader):
    fabric = L.Fabric(devices=4)
    for batch in loader:
        fabric.backward(model(batch).mean())
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
