from fast import Prefetcher


class Trainer:
    def __init__(self, model, opt, loader):
        self.model, self.opt = model, opt
        self.loader = Prefetcher(loader, "cuda")

    def fit(self, epochs):
        for epoch in range(epochs):
            self.epoch(epoch)

    def epoch(self, epoch):
        for batch in self.loader:
            loss = self.model(batch).mean()
            loss.backward()
            self.opt.step()
