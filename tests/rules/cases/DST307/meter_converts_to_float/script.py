from meters import Meter


def train(model, loader):
    losses = Meter()
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        losses.update(loss, len(batch))
