import torch


def main(model, loader, optimizer, n=4):
    for i, x in enumerate(loader):
        begin(optimizer)  # expect: DST308
        loss = model(x).mean() / n
        loss.backward()
        if (i + 1) % n == 0:
            optimizer.step()


def begin(optimizer):
    optimizer.zero_grad()
