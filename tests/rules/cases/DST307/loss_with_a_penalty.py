import torch


def main(model, loader, opt, beta=0.98):
    for x in loader:
        loss = model(x).mean()
        reg = model.reg()
        loss = loss * beta + (1 - beta) * reg
        loss.backward()
        opt.step()
