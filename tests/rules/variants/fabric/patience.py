"""A counter on what each rank has summed up."""

import torch
import torch.nn.functional as F
from lightning import Fabric
from torch.utils.data import DataLoader


class Loop:
    def __init__(self, fabric, net, data):
        self.fabric = fabric
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.model, self.optimizer = fabric.setup(net, self.optimizer)
        self.loader = fabric.setup_dataloaders(DataLoader(data, batch_size=8))

    def epoch(self):
        total = 0.0
        for inputs, targets in self.loader:
            loss = F.cross_entropy(self.model(inputs), targets)
            self.fabric.backward(loss)
            self.optimizer.step()
            total += loss.item()
        return total


def main(net, data):
    fabric = Fabric(devices=4)
    fabric.launch()
    loop = Loop(fabric, net, data)
    lowest, waited = 1e9, 0
    for _epoch in range(100):
        total = loop.epoch()
        waited = 0 if total < lowest else waited + 1
        lowest = min(lowest, total)
        if waited > 3:
            break  # expect: DST102


if __name__ == "__main__":
    main(torch.nn.Linear(2, 2), [1, 2, 3])
