def train_one_epoch(model, loader, optimizer, epoch):
    model.train()
    loader.sampler.set_epoch(epoch)
    for batch in loader:
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()
    print(f"epoch {epoch} is over")
