import torch


@torch.no_grad()
def predict(model, loader):
    guesses, truths = [], []
    for inputs, labels in loader:
        guesses.extend(model(inputs).argmax(-1).tolist())
        truths.extend(labels.tolist())
    return truths, guesses
