import torch


class T:
    def fit(self, model, loader, opt):
        for x in loader:
            loss = model(x).mean()
            opt.zero_grad()
            loss.backward()
            self.avg = 0.9 * self.avg + 0.1 * loss  # expect: DST307
            opt.step()
