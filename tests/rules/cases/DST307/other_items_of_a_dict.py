import torch


def main(model, loader, opt, beta=0.98):
    totals = {}
    for images, targets in loader:
        out = model(images, targets)
        out["loss"].backward()
        opt.step()
        for key, v in out.items():
            if key != "loss":
                totals[key] = totals.get(key, 0) + v
        totals["acc"] += out["acc"]
