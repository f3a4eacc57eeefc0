from steps import update


def main(model, loader, optimizer):
    seen = []
    for batch in loader:
        loss = model(batch)
        update(loss, optimizer)
        seen.append(loss)  # expect: DST307
    return seen
