import torch


def main(model, loader, opt, beta=0.98):
    for images, targets in loader:
        totals = {}
        losses = model(images, targets)
        loss = sum(losses.values())
        loss.backward()
        opt.step()
        for key, v in losses.items():
            totals[key] = totals.get(key, 0) + v
