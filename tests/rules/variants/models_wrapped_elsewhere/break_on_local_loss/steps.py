def train(model, loader, optimizer, patience):
    best, bad = float("inf"), 0
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        bad = 0 if loss.item() < best else bad + 1
        best = min(best, loss.item())
        if bad > patience:
            break
