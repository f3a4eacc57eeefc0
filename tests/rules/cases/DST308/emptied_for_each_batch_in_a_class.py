import torch


class Trainer:
    def epoch(self, loader):
        for i, x in enumerate(loader):
            loss = self.model(x).mean() / self.n
            self.optim.zero_grad(set_to_none=True)  # expect: DST308
            self.scaler.scale(loss).backward()
            if (i + 1) % self.n == 0 or i + 1 == len(loader):
                self.scaler.unscale_(self.optim)
                self.optim.step()
