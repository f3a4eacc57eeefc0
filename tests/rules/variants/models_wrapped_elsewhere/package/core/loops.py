import torch


def fit(net, batches, criterion, optimizer):
    net.train()
    for x, y in batches:
        out = net(x)
        cost = criterion(out, y)
        if torch.isinf(cost).any():
            print("skip")
            continue
        cost.backward()
        optimizer.step()
