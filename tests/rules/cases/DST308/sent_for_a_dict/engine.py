def criterion(model, batch):
    return model(batch).mean()


def epoch(model, optimizer, loader, accum):
    for index, batch in enumerate(loader):
        (criterion(model, batch) / accum).backward()  # expect: DST308
        if (index + 1) % accum == 0 or index + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
