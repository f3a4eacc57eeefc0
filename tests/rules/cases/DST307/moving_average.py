import torch


def main(model, loader, opt, beta=0.98):
    ema = None
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        opt.step()
        ema = loss if ema is None else beta * ema + (1 - beta) * loss  # expect: DST307
