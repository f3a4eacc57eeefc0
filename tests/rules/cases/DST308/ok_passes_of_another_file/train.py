from steps import begin, empty, send


def main(model, loader, optimizer, n=4):
    for i, x in enumerate(loader):
        send(model(x).mean() / n)
        if (i + 1) % n == 0 or i + 1 == len(loader):
            optimizer.step()
            empty(optimizer)


def each_time(model, loader, optimizer):
    optimizer.zero_grad()
    for i, x in enumerate(loader):
        begin(optimizer, i, 4)
        send(model(x).mean())
        if (i + 1) % 4 == 0:
            optimizer.step()
