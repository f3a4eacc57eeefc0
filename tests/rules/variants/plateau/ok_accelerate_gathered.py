"""The metric is gathered first."""

import torch
from accelerate import Accelerator
from torch.optim.lr_scheduler import ReduceLROnPlateau


def main(net, loader):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(net.parameters())
    scheduler = ReduceLROnPlateau(optimizer)
    net, optimizer, loader, scheduler = accelerator.prepare(net, optimizer, loader, scheduler)
    for _epoch in range(3):
        total = torch.tensor(0.0, device=accelerator.device)
        for inputs, labels in loader:
            loss = torch.nn.functional.mse_loss(net(inputs), labels)
            accelerator.backward(loss)
            optimizer.step()
            total += loss.detach()
        scheduler.step(accelerator.gather(total).mean())
