"""A prepared scheduler is still one that acts on a metric."""

import torch
from accelerate import Accelerator
from torch.optim.lr_scheduler import ReduceLROnPlateau


def main(net, loader):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(net.parameters())
    scheduler = ReduceLROnPlateau(optimizer)
    net, optimizer, loader, scheduler = accelerator.prepare(net, optimizer, loader, scheduler)
    for _epoch in range(3):
        total = 0.0
        for inputs, labels in loader:
            loss = torch.nn.functional.mse_loss(net(inputs), labels)
            accelerator.backward(loss)
            optimizer.step()
            total += loss.detach().float()
        scheduler.step(total / len(loader))  # expect: DST623
