import torch


def main(model, loader, opt, beta=0.98):
    total = {"cls": 0.0, "box": 0.0}
    for images, targets in loader:
        losses = model(images, targets)
        loss = sum(losses.values())
        loss.backward()
        opt.step()
        for key in losses:
            total[key] += losses[key]  # expect: DST307
