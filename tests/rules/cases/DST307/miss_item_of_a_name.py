import torch


def main(model, loader, opt, beta=0.98):
    total = {"cls": 0.0, "box": 0.0}
    for images, targets in loader:
        losses = model(images, targets)
        loss = losses["cls"] + 2 * losses["box"]
        loss.backward()
        opt.step()
        total["cls"] += losses["cls"]  # expect: DST307
