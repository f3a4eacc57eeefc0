import torch


def main(model, loader, opt, beta=0.98):
    totals = {}
    for images, targets in loader:
        losses = model(images, targets)
        loss = sum(losses.values())
        loss.backward()
        opt.step()
        losses = {k: v.item() for k, v in losses.items()}
        for key, v in losses.items():
            totals[key] = totals.get(key, 0) + v
