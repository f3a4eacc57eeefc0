import torch


def main(model, loader, opt, beta=0.98):
    totals = {}
    for x in loader:
        parts = model.parts(x)
        opt.zero_grad()
        parts["loss"].backward()
        opt.step()
        for name, value in parts.items():
            totals[name] = totals.get(name, 0) + value  # expect: DST307
