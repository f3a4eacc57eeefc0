from accelerate import Accelerator


class Trainer:
    def __init__(self, args, model, optimizer, loader):
        self.args = args
        self.accelerator = Accelerator()
        self.model, self.optimizer, self.loader = self.accelerator.prepare(model, optimizer, loader)
        self.whole = self.loader

    def resume(self, skipped):
        self.loader = self.accelerator.skip_first_batches(self.loader, skipped)

    def end_epoch(self):
        self.loader = self.whole

    def fit(self):
        self.resume(self.args.skipped)
        for epoch in range(self.args.epochs):
            for batch in self.loader:
                self.accelerator.backward(self.model(batch).mean())
                self.optimizer.step()
                self.optimizer.zero_grad()
            self.end_epoch()
