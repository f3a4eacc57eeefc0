def train(model, loader, optimizer):
    for batch in loader:
        loss = model(batch).mean()
        if loss.item() != loss.item():
            continue
        loss.backward()
        optimizer.step()
