from data import train_loader


def fit(model, optimizer, data, seed, epochs):
    for epoch in range(epochs):
        for batch in train_loader(data, seed=seed * 100 + epoch):
            model(batch).mean().backward()
            optimizer.step()
