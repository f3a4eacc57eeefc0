import torch


def main(model, loader, optimizer, n=4):
    optimizer.zero_grad()
    for i, x in enumerate(loader):
        loss = model(x).mean() / n
        loss.backward()
        if (i + 1) % n == 0 or i + 1 == len(loader):
            optimizer.step()
            for parameter in model.parameters():
                parameter.grad = None


def helped(model, loader, optimizer):
    optimizer.zero_grad()
    for x in loader:
        model(x).mean().backward()
        advance(optimizer)
        optimizer.step()
        clean(optimizer)


def clean(optimizer):
    optimizer.zero_grad()


def one_window(model, batches, optimizer):
    optimizer.zero_grad()
    for x in batches:
        model(x).mean().backward()
    optimizer.step()


def again(model, x, optimizer):
    optimizer.zero_grad()
    for attempt in range(3):
        try:
            model(x).mean().backward()
            optimizer.step()
            break
        except RuntimeError:
            continue
