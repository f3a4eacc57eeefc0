import torch


def main(model, loader, opt, beta=0.98):
    ema = torch.zeros(())
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        opt.step()
        ema.mul_(beta).add_(loss.detach(), alpha=1 - beta)
