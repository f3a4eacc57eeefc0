"""What each rank has summed up over an epoch."""

import torch
from lightning.fabric import Fabric


def train(args, net, data):
    fabric = Fabric(accelerator="auto", devices="auto", strategy="ddp")
    fabric.launch()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    model, optimizer = fabric.setup(net, optimizer)
    loader = fabric.setup_dataloaders(torch.utils.data.DataLoader(data, batch_size=8))
    for _epoch in range(args.epochs):
        running = 0.0
        for inputs in loader:
            loss = model(inputs).mean()
            fabric.backward(loss)
            optimizer.step()
            running += loss.item()
        if running < 0.1:
            break  # expect: DST102
