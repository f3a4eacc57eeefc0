import torch

from collections import defaultdict


def main(model, loader, opt, beta=0.98):
    history = defaultdict(list)
    for images, targets in loader:
        losses = model(images, targets)
        loss = sum(each for each in losses.values())
        opt.zero_grad()
        loss.backward()
        opt.step()
        for key, v in losses.items():
            history[key].append(v)  # expect: DST307
