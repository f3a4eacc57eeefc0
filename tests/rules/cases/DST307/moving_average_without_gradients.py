import torch


def main(model, loader, opt, beta=0.98):
    ema = torch.zeros(1)
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        opt.step()
        with torch.no_grad():
            ema = beta * ema + (1 - beta) * loss
