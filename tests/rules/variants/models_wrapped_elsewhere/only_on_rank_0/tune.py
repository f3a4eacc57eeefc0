def warm_up(model, batch):
    model(batch).sum().backward()
