import torch


def main(model, loader, opt, beta=0.98):
    totals = {}
    for images, targets in loader:
        losses = model(images, targets)
        loss = sum(losses.values())
        loss.backward()
        opt.step()
        for key, v in losses.items():
            totals[key] = totals.get(key, 0) + v.item()
        for key, v in losses.items():
            v = v.detach()
            totals[key] += v
        logged = {key: v.detach() for key, v in losses.items()}
        for key, v in logged.items():
            totals[key] += v
