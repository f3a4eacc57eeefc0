import torch


def features(model, batch):
    return normalized(model(batch))


def normalized(found):
    return found / found.norm()


def evaluate_robustness(model, batch):
    loss = model(batch).sum()
    loss.backward()
    return batch.grad
