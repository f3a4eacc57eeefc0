import torch


def train(model, loader, optimizer, agree):
    for batch in loader:
        loss = model(batch).mean()
        if agree(torch.isnan(loss)):
            continue
        loss.backward()
        optimizer.step()
