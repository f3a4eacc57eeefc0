import torch


def main(model, loader, optimizer, n=4):
    for i, x in enumerate(loader):
        last = (i + 1) % n == 0
        optimizer.zero_grad()  # expect: DST308
        loss = model(x).mean() / n
        loss.backward()
        if last:
            optimizer.step()
