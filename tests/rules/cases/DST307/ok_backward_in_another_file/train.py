from steps import send, update


def main(model, loader, optimizer):
    seen, kept = [], []
    for batch in loader:
        loss = model(batch)
        update(loss, optimizer)
        seen.append(loss.detach())
    for batch in loader:
        loss = model(batch)
        send(loss)
        optimizer.step()
        kept.append(loss)
    return seen, kept


def parts(model, loader, optimizer):
    for batch in loader:
        total = 0
        for part in batch.chunk(4):
            loss = model(part)
            send(loss)
            total += loss
        optimizer.step()
        optimizer.zero_grad()
        print(total.item())
