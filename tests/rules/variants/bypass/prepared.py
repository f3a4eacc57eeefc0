"""What goes into ``prepare`` is not what comes out."""

import torch
from accelerate import Accelerator


def main(net, loader):
    accelerator = Accelerator()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    for inputs in loader:
        loss = net(inputs).mean()  # expect: DST613
        accelerator.backward(loss)
        optimizer.step()
