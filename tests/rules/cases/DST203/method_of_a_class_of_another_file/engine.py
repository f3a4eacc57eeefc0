def train_one_epoch(model, loader, optimizer, epoch):
    model.train()
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
    print(f"epoch {epoch} is over")
