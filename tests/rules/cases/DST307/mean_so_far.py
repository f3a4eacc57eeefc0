import torch


def main(model, loader, opt, beta=0.98):
    total = 0
    for i, x in enumerate(loader):
        loss = model(x).mean()
        loss.backward()
        opt.step()
        total = total * i / (i + 1) + loss / (i + 1)  # expect: DST307
