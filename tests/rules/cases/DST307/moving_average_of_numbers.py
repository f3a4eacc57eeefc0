import torch


def main(model, loader, opt, beta=0.98):
    ema = None
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        opt.step()
        now = loss.item()
        ema = now if ema is None else beta * ema + (1 - beta) * now
        best = loss.detach() if ema is None else min(ema, loss.detach())
