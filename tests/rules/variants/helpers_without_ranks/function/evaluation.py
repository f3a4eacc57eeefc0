import torch


def evaluate(model, batches):
    with torch.no_grad():
        return sum(model(batch).mean().item() for batch in batches)
