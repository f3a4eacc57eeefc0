import torch


def main(model, loader, optimizer, n=4):
    for i, x in enumerate(loader):
        if i % n == 0:
            optimizer.zero_grad()
        loss = model(x).mean() / n
        loss.backward()
        if (i + 1) % n == 0 or i + 1 == len(loader):
            optimizer.step()
