"""Nothing is distributed."""

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau


def main(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = ReduceLROnPlateau(optimizer)
    for _epoch in range(5):
        for inputs in loader:
            loss = model(inputs).sum()
            loss.backward()
            optimizer.step()
        scheduler.step(loss)
