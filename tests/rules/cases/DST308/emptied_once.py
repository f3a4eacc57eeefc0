import torch


class Trainer:
    def fit(self, loader):
        self.opt.zero_grad()
        for x in loader:
            self.model(x).mean().backward()
            self.opt.step()  # expect: DST308
