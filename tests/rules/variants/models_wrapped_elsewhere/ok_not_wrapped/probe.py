import torch


def fit_probe(probe, features):
    for feature in features:
        loss = probe(feature).mean()
        if torch.isnan(loss):
            continue
        loss.backward()
