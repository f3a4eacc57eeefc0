from data import train_loader


def fit(model, optimizer, data, checkpoint, epochs):
    loader, order = train_loader(data)
    begin = checkpoint["epoch"] + 1
    order.set_epoch(begin)
    for epoch in range(begin, epochs):
        for batch in loader:
            model(batch).mean().backward()
            optimizer.step()
