from steps import empty, send


def main(model, loader, optimizer, n=4):
    for i, x in enumerate(loader):
        send(model(x).mean() / n)
        if i % n == 0:  # expect: DST308
            optimizer.step()
            empty(optimizer)


def never(model, loader, optimizer):
    optimizer.zero_grad()
    for x in loader:
        send(model(x).mean())
        optimizer.step()  # expect: DST308
